"""A headless Chromium, as a person sees a page in it: width, theme, what was asked of the network, pictures."""

import base64
import json

from selenium import webdriver
from selenium.common.exceptions import NoAlertPresentException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

HEIGHT = 900
PHONE_WIDTH_MOST = 500


class Browser:
    def __init__(self, chromium, driver):
        options = Options()
        options.binary_location = chromium
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        options.set_capability("unhandledPromptBehavior", "ignore")
        self.driver = webdriver.Chrome(service=Service(driver), options=options)
        self.driver.set_page_load_timeout(60)
        self.command("Network.enable")

    def command(self, name, **arguments):
        return self.driver.execute_cdp_cmd(name, arguments)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def set_look(self, width, theme, media="screen", height=HEIGHT):
        is_phone = width <= PHONE_WIDTH_MOST
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=is_phone)
        self.command("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": theme}])

    def open(self, url, with_scripts=True):
        self.driver.get_log("performance")
        self.driver.get_log("browser")
        self.command("Emulation.setScriptExecutionDisabled", value=not with_scripts)
        self.driver.get(url)

    def wait_for_frames(self):
        """Two frames later: what a change of size or theme set off has been drawn."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30)));")

    def complaints(self):
        """What the console says, of any level."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requested(self):
        """Addresses asked for since the page was opened."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"]

    def alert_text(self):
        """What an alert says, or nothing without one."""
        try:
            alert = self.driver.switch_to.alert
            text = alert.text
            alert.dismiss()
            return text
        except NoAlertPresentException:
            return None

    def save_picture(self, path):
        """The whole page, however long."""
        size = self.command("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        picture = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(picture["data"]))

    def save_pdf(self, path):
        """A4, as printed."""
        printed = self.command("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, printBackground=False)
        path.write_bytes(base64.b64decode(printed["data"]))

    def quit(self):
        self.driver.quit()
