// Draws the charts of a report from the numbers in #chart-data (sim/report/page/chart_json.hpp) with Chart.js 3, where
// the page has them, and readies the page for paper. All else on it stands without this.
(function () {
  'use strict';

  const dots = ['circle', 'triangle', 'rect', 'rectRot', 'star', 'crossRot', 'cross', 'dash'];
  const colourCount = 8;
  const markedPointsMost = 60;  // lines with more have no dots
  const barPixels = 34;
  const lineNameMost = 36;  // characters
  const paper = {width: 680, height: 300};
  const dark = window.matchMedia('(prefers-color-scheme: dark)');

  /** A colour of the style sheet, in the theme of the moment. */
  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
  }

  /** 1, 10, 1k, 2.5M: for axes. */
  function shortNumber(value) {
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-4 || size >= 1e18)) {
      return value.toExponential().replace('e+', 'e');
    }
    const units = [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
    const unit = units.find(([least]) => size >= least * 0.9999999) || [1, ''];
    return Number((value / unit[0]).toPrecision(6)) + unit[1];
  }

  /** Four digits that matter, whole numbers in full: for tooltips. */
  function fullNumber(value) {
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-4 || size >= 1e15)) {
      return value.toPrecision(4);
    }
    const digits = size >= 1000 ? {maximumFractionDigits: 0} : {maximumSignificantDigits: 4};
    return value.toLocaleString('en', digits);
  }

  function cut(text, most) {
    return text.length <= most ? text : text.slice(0, most - 1) + '…';
  }

  /** Ticks in equal steps of 1, 2 or 5 times a power of ten, about as many as there is room for. */
  function evenTicks(min, max, most) {
    if (!(max > min)) {
      return [min];
    }
    const raw = (max - min) / most;
    const power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw * 0.999999) || raw;
    const ticks = [];
    for (let at = Math.ceil(min / step - 1e-6); at * step <= max + step * 1e-6; at += 1) {
      ticks.push(Number((at * step).toPrecision(12)));
    }
    return ticks;
  }

  /**
   * Ticks of a logarithmic axis: powers of ten, as many as there is room for; within two and a half also 2 and 5; within less
   * than one equal steps, as on a linear axis.
   */
  function logTicks(min, max, most) {
    const decades = Math.log10(max / min);
    if (decades < 0.8) {
      return evenTicks(min, max, Math.min(6, most));
    }
    const factors = decades <= 2.5 && most >= 6 ? [1, 2, 5] : [1];
    const every = Math.max(1, Math.ceil(decades / most));
    const ticks = [];
    for (let power = Math.floor(Math.log10(min)); power <= Math.ceil(Math.log10(max)); power += every) {
      for (const factor of factors) {
        const tick = Number((factor + 'e' + power));
        if (tick >= min * 0.999999 && tick <= max * 1.000001) {
          ticks.push(tick);
        }
      }
    }
    return ticks.length >= 2 ? ticks : [min, max];
  }

  /** Lines across the chart, each with its name where no other name stands. */
  const straightLines = {
    id: 'straightLines',
    afterDatasetsDraw(chart) {
      const {ctx, chartArea: area, scales} = chart;
      const lying = chart.options.indexAxis === 'y';
      const isUpright = (line) => line.vertical || lying;
      const place = (line) => (isUpright(line) ? scales.x : scales.y).getPixelForValue(line.at);
      const taken = chart.options.plugins.straightLines.lines.filter(isUpright).map(
        (line) => ({left: place(line) - 1, top: area.top, width: 2, height: area.bottom - area.top}));
      ctx.save();
      ctx.font = '12px ' + Chart.defaults.font.family;
      ctx.textBaseline = 'middle';
      ctx.lineJoin = 'round';
      for (const line of chart.options.plugins.straightLines.lines) {
        const upright = isUpright(line);
        const at = place(line);
        ctx.strokeStyle = colour('limit');
        ctx.lineWidth = 1.5;
        ctx.setLineDash([2, 3]);
        ctx.beginPath();
        if (upright) {
          ctx.moveTo(at, area.top);
          ctx.lineTo(at, area.bottom);
        } else {
          ctx.moveTo(area.left, at);
          ctx.lineTo(area.right, at);
        }
        ctx.stroke();
        const room = area.right - area.left;
        const name = cut(line.name, Math.min(lineNameMost, Math.max(8, Math.floor(room / 9))));
        const box = freeBox(upright, at, area, ctx.measureText(name).width, taken);
        taken.push(box);
        ctx.setLineDash([]);
        ctx.lineWidth = 4;
        ctx.strokeStyle = colour('card');
        ctx.strokeText(name, box.left, box.top + box.height / 2);
        ctx.fillStyle = colour('limit');
        ctx.fillText(name, box.left, box.top + box.height / 2);
      }
      ctx.restore();
    },
  };

  /** The first place beside the line where the name covers no other, or as little as can be. */
  function freeBox(upright, at, area, width, taken) {
    const height = 16;
    const gap = 5;
    const places = [];
    if (upright) {
      for (let top = area.top + 2; top + height < area.bottom; top += height) {
        if (at + gap + width <= area.right) {
          places.push([at + gap, top]);
        }
        if (at - gap - width >= area.left) {
          places.push([at - gap - width, top]);
        }
      }
    } else {
      for (let left = area.right - width - gap; left >= area.left; left -= 16) {
        for (const top of [at - height - 1, at + 1, at + 1 + height, at - 1 - 2 * height]) {
          if (top >= area.top && top + height <= area.bottom) {
            places.push([left, top]);
          }
        }
      }
    }
    const shared = (begin, size, otherBegin, otherSize) =>
      Math.max(0, Math.min(begin + size, otherBegin + otherSize) - Math.max(begin, otherBegin));
    const covered = (box) => taken.reduce((sum, other) =>
      sum + shared(box.left, box.width, other.left, other.width) * shared(box.top, box.height, other.top, other.height), 0);
    const boxes = places.map(([left, top]) => ({left, top, width, height}));
    const least = Math.min(...boxes.map(covered));
    return boxes.find((box) => covered(box) === least) || {left: area.left + gap, top: area.top + 2, width, height};
  }

  function dataset(spec, series, hidden) {
    const stroke = colour('series-' + series.colour % colourCount);
    const common = {label: series.name, borderColor: stroke, backgroundColor: stroke, hidden: hidden};
    if (spec.kind === 'stacked_bars') {
      // A gap between parts: they do not only differ in colour.
      return {...common, data: series.y, borderColor: colour('card'), borderWidth: {left: 0, right: 1}, maxBarThickness: 26};
    }
    const data = series.x.map((x, place) => ({x: x, y: series.y[place]}));
    if (spec.kind === 'lines' || series.line) {
      const radius = data.length > markedPointsMost || series.line ? 0 : 2.5;
      return {...common, data: data, showLine: true, borderWidth: 2, borderDash: series.dashed ? [7, 4] : [],
        pointRadius: radius, pointHoverRadius: 4, pointHitRadius: 8, order: 1};
    }
    const heaviest = Math.max(...spec.series.flatMap((each) => each.weights || []));
    return {...common, data: data, showLine: false, backgroundColor: stroke + 'aa', borderWidth: 1,
      pointStyle: dots[series.colour % dots.length], pointRadius: radii(series, heaviest), pointHitRadius: 6};
  }

  /** Areas in proportion to the weights, alike in all series of a chart, but none too small to be seen. */
  function radii(series, heaviest) {
    if (!series.weights) {
      return series.y.length > 300 ? 2 : 4;
    }
    return series.weights.map((weight) => Math.max(2, 11 * Math.sqrt(weight / heaviest)));
  }

  /**
   * An axis of values, wide enough for the lines across it. One that lies ends where its data end: time where the run ends,
   * shares at 100 %.
   */
  function axis(description, atLines, lies) {
    const ticks = {color: colour('muted'), maxRotation: 0, autoSkip: !(description.log || lies), callback: shortNumber};
    const room = (scale) => lies ? Math.max(2, Math.floor(scale.chart.width / 60)) : 8;
    const result = {
      type: description.log ? 'logarithmic' : 'linear',
      title: {display: description.label !== '', text: description.label, color: colour('muted')},
      grid: {color: colour('grid'), borderColor: colour('edge')},
      ticks: ticks,
    };
    if (atLines.length > 0) {
      result.suggestedMin = Math.min(...atLines);
      result.suggestedMax = Math.max(...atLines);
    }
    if (description.log) {
      // Chart.js would go on to the next power of ten.
      result.bounds = 'data';
      result.afterDataLimits = (scale) => {
        const min = Math.min(scale.min, ...atLines.filter((at) => at > 0));
        const max = Math.max(scale.max, ...atLines);
        const margin = Math.max(1.02, Math.pow(max / min, 0.03));
        scale.min = min / margin;
        scale.max = max * margin;
      };
      result.afterBuildTicks = (scale) => {
        scale.ticks = logTicks(scale.min, scale.max, room(scale)).map((value) => ({value: value}));
      };
    } else if (lies) {
      result.bounds = 'data';
      result.afterBuildTicks = (scale) => {
        scale.ticks = evenTicks(scale.min, scale.max, room(scale)).map((value) => ({value: value}));
      };
    }
    return result;
  }

  function sharesX(spec) {
    const first = JSON.stringify(spec.series[0].x);
    return spec.series.every((series) => JSON.stringify(series.x) === first);
  }

  function pointText(spec, series, place) {
    const y = (spec.y.label ? spec.y.label + ': ' : '') + fullNumber(series.y[place]);
    const label = series.labels && series.labels[place] ? ', ' + series.labels[place] : '';
    return series.name + ', ' + y + label;
  }

  function placeText(spec, series, place) {
    if (spec.kind === 'stacked_bars') {
      return spec.categories[place];
    }
    return (spec.x.label ? spec.x.label + ': ' : '') + fullNumber(series.x[place]);
  }

  function tooltip(spec, plotWidth) {
    const most = Math.max(16, Math.min(60, Math.floor(plotWidth / 9)));  // characters
    return {
      backgroundColor: colour('text'),
      titleColor: colour('card'),
      bodyColor: colour('card'),
      callbacks: {
        title: (items) => items.length > 0 ? cut(placeText(spec, spec.series[items[0].datasetIndex], items[0].dataIndex), most) : '',
        label: (item) => {
          const series = spec.series[item.datasetIndex];
          return ' ' + cut(series.name, Math.ceil(most * 2 / 3)) + ': ' + fullNumber(series.y[item.dataIndex]);
        },
        afterLabel: (item) => {
          const labels = spec.series[item.datasetIndex].labels;
          return labels && labels[item.dataIndex] ? cut(labels[item.dataIndex], most) : undefined;
        },
      },
    };
  }

  function options(spec, plotWidth) {
    const lying = spec.kind === 'stacked_bars';
    const of = (vertical) => spec.lines.filter((line) => (line.vertical && !lying) === vertical).map((line) => line.at);
    const scales = {x: axis(spec.x, of(true), true), y: {...axis(spec.y, of(false), false), beginAtZero: !spec.y.log}};
    if (lying) {
      scales.x = {...axis(spec.y, of(false), true), stacked: true};
      scales.y = {stacked: true, grid: {display: false, borderColor: colour('edge')},
        ticks: {color: colour('text'), autoSkip: false, callback: (_, place) => cut(spec.categories[place], Math.max(8, Math.min(28, Math.floor(plotWidth / 20))))}};
    }
    const mode = lying || (spec.kind === 'lines' && sharesX(spec)) ? 'index' : 'nearest';
    return {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      indexAxis: lying ? 'y' : 'x',
      interaction: {mode: mode, intersect: false, axis: lying ? 'y' : mode === 'index' ? 'x' : 'xy'},
      scales: scales,
      plugins: {legend: {display: false}, tooltip: tooltip(spec, plotWidth), straightLines: {lines: spec.lines}},
    };
  }

  /** The sample in front of a name in the legend: how the series is drawn. */
  function sample(spec, series) {
    const size = 18;
    const space = 'http://www.w3.org/2000/svg';
    const svg = document.createElementNS(space, 'svg');
    svg.setAttribute('width', size);
    svg.setAttribute('height', size);
    svg.setAttribute('viewBox', '0 0 18 18');
    svg.setAttribute('aria-hidden', 'true');
    const shape = document.createElementNS(space, 'path');
    const shapes = {
      circle: 'M9 4a5 5 0 1 0 .01 0z', triangle: 'M9 3l6 11h-12z', rect: 'M4 4h10v10h-10z', rectRot: 'M9 2l7 7l-7 7l-7-7z',
      star: 'M9 3v12M4 5l10 8M4 13l10-8', crossRot: 'M4 4l10 10M4 14l10-10', cross: 'M9 3v12M3 9h12', dash: 'M3 9h12',
    };
    const drawnAsLine = spec.kind === 'lines' || series.line;
    shape.setAttribute('d', spec.kind === 'stacked_bars' ? shapes.rect :
      drawnAsLine ? 'M0 9h18' : shapes[dots[series.colour % dots.length]]);
    shape.setAttribute('stroke-width', drawnAsLine ? '3' : '1.5');
    if (series.dashed && drawnAsLine) {
      shape.setAttribute('stroke-dasharray', '5 3');
    }
    const stroke = 'var(--series-' + series.colour % colourCount + ')';
    shape.style.stroke = stroke;
    shape.style.fill = stroke;
    svg.append(shape);
    return svg;
  }

  class Figure {
    constructor(spec) {
      this.spec = spec;
      this.figure = document.getElementById('chart-' + spec.id);
      this.plot = this.figure.querySelector('.plot');
      this.canvas = this.plot.querySelector('canvas');
      this.hidden = spec.series.map(() => false);
      this.focus = null;
      this.plot.hidden = false;
      if (spec.kind === 'stacked_bars') {
        this.plot.style.height = 80 + barPixels * spec.categories.length + 'px';
      }
      // The canvas has the summary for those who hear the page.
      this.figure.querySelector('.summary').setAttribute('aria-hidden', 'true');
      if (spec.series.length > 1) {
        this.plot.before(this.legend());
      }
      this.spoken = document.createElement('p');
      this.spoken.className = 'heard';
      this.spoken.setAttribute('aria-live', 'polite');
      this.plot.after(this.spoken);
      this.canvas.addEventListener('keydown', (event) => this.onKey(event));
      this.canvas.addEventListener('blur', () => this.show(null));
      this.draw();
    }

    draw() {
      if (this.chart) {
        this.chart.destroy();
      }
      const spec = this.spec;
      this.chart = new Chart(this.canvas, {
        type: spec.kind === 'stacked_bars' ? 'bar' : 'scatter',
        data: {labels: spec.categories, datasets: spec.series.map((series, place) => dataset(spec, series, this.hidden[place]))},
        options: options(spec, this.plot.clientWidth),
        plugins: [straightLines],
      });
    }

    legend() {
      const legend = document.createElement('div');
      legend.className = 'legend';
      legend.setAttribute('role', 'group');
      legend.setAttribute('aria-label', 'Series shown');
      this.spec.series.forEach((series, place) => {
        const button = document.createElement('button');
        button.type = 'button';
        button.setAttribute('aria-pressed', 'true');
        const name = document.createElement('span');
        name.textContent = series.name;
        button.append(sample(this.spec, series), name);
        button.addEventListener('click', () => {
          this.hidden[place] = !this.hidden[place];
          button.setAttribute('aria-pressed', String(!this.hidden[place]));
          this.chart.setDatasetVisibility(place, !this.hidden[place]);
          this.chart.update();
        });
        legend.append(button);
      });
      return legend;
    }

    /** Arrow keys walk from point to point and from series to series; Escape leaves. */
    onKey(event) {
      const shown = this.spec.series.map((_, place) => place).filter((place) => !this.hidden[place]);
      if (shown.length === 0 || !['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'Escape'].includes(event.key)) {
        return;
      }
      event.preventDefault();
      if (event.key === 'Escape') {
        this.show(null);
        return;
      }
      const {series, place} = this.focus || {series: shown[0], place: -1};
      const turn = {ArrowUp: -1, ArrowDown: 1}[event.key] || 0;
      const next = shown[(Math.max(0, shown.indexOf(series)) + turn + shown.length) % shown.length];
      const last = this.spec.series[next].y.length - 1;
      const step = {ArrowLeft: -1, ArrowRight: 1}[event.key] || 0;
      const wanted = event.key === 'Home' ? 0 : event.key === 'End' ? last : place + step;
      this.show(last < 0 ? null : {series: next, place: Math.min(last, Math.max(0, wanted))});
    }

    show(focus) {
      this.focus = focus;
      const active = focus ? [{datasetIndex: focus.series, index: focus.place}] : [];
      this.chart.setActiveElements(active);
      const element = focus && this.chart.getDatasetMeta(focus.series).data[focus.place];
      this.chart.tooltip.setActiveElements(active, element ? {x: element.x, y: element.y} : {x: 0, y: 0});
      this.chart.update();
      const series = focus && this.spec.series[focus.series];
      this.spoken.textContent = focus ? placeText(this.spec, series, focus.place) + '; ' + pointText(this.spec, series, focus.place) : '';
    }
  }

  let figures = [];
  const data = document.getElementById('chart-data');
  if (data) {
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    figures = JSON.parse(data.textContent).map((spec) => new Figure(spec));
  }
  dark.addEventListener('change', () => figures.forEach((figure) => figure.draw()));

  // On paper: light, unfolded, and charts as wide as the page, whatever the window was.
  let folded = [];
  window.addEventListener('beforeprint', () => {
    document.documentElement.classList.add('on-paper');
    folded = [...document.querySelectorAll('details:not([open])')];
    folded.forEach((details) => { details.open = true; });
    figures.forEach((figure) => {
      figure.draw();
      figure.chart.resize(paper.width, figure.spec.kind === 'stacked_bars' ? figure.plot.clientHeight : paper.height);
    });
  });
  window.addEventListener('afterprint', () => {
    document.documentElement.classList.remove('on-paper');
    folded.forEach((details) => { details.open = false; });
    figures.forEach((figure) => {
      figure.draw();
      figure.chart.resize();
    });
  });
}());
