#include "calibration/device/cudnn_attention.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace inferometer {
namespace {

// Of the dimensions of attention_tensors.hpp.
constexpr std::int64_t kRowAxis = 2;
constexpr std::int64_t kColumnAxis = 3;

constexpr std::int64_t kAlignment = 16;  // bytes, of arrays in memory

}  // namespace

CudnnAttention::CudnnAttention(const Cudnn& cudnn, const EqualPrefill& shape)
    : cudnn_(&cudnn),
      shape_(shape),
      scalars_{.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(shape.head_dim))),
               .hidden_score = -std::numeric_limits<float>::infinity(),
               .left_edge = static_cast<float>(shape.window - shape.past),
               .keys = static_cast<std::int32_t>(shape.keys()),
               .tokens = static_cast<std::int32_t>(shape.tokens)} {
  add_attention();
  make_plan();
}

CudnnDescriptor& CudnnAttention::make(cudnnBackendDescriptorType_t type) {
  return *kept_.emplace_back(std::make_unique<CudnnDescriptor>(cudnn_->functions(), type));
}

CudnnAttention::Tensor CudnnAttention::tensor(const AttentionTensor& layout, cudnnDataType_t type,
                                              Place place) {
  CudnnDescriptor& made = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const std::int64_t id = ++tensors_;
  made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id);
  made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
  made.set_sizes(CUDNN_ATTR_TENSOR_DIMENSIONS, layout.sizes);
  made.set_sizes(CUDNN_ATTR_TENSOR_STRIDES, layout.strides);
  made.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, kAlignment);
  made.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, place == Place::nowhere);
  made.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, place == Place::host);
  made.finish("describing an array");
  return {id, made.raw()};
}

CudnnAttention::Tensor CudnnAttention::scalar(float& value) {
  const Tensor made = tensor(scalar_tensor(), CUDNN_DATA_FLOAT, Place::host);
  scalar_ids_.push_back(made.id);
  scalar_values_.push_back(&value);
  return made;
}

CudnnAttention::Tensor CudnnAttention::scalar(std::int32_t& value) {
  const Tensor made = tensor(scalar_tensor(), CUDNN_DATA_INT32, Place::host);
  scalar_ids_.push_back(made.id);
  scalar_values_.push_back(&value);
  return made;
}

CudnnAttention::Tensor CudnnAttention::scores(cudnnDataType_t type, std::int64_t columns) {
  return tensor(score_tensor(shape_, columns), type, Place::nowhere);
}

void CudnnAttention::add_product(const Tensor& left, const Tensor& right, const Tensor& product) {
  CudnnDescriptor& how = make(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  how.finish("describing a matrix product");
  CudnnDescriptor& operation = make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  operation.set_descriptor(CUDNN_ATTR_OPERATION_MATMUL_ADESC, left.descriptor);
  operation.set_descriptor(CUDNN_ATTR_OPERATION_MATMUL_BDESC, right.descriptor);
  operation.set_descriptor(CUDNN_ATTR_OPERATION_MATMUL_CDESC, product.descriptor);
  operation.set_descriptor(CUDNN_ATTR_OPERATION_MATMUL_DESC, how.raw());
  operation.finish("adding a matrix product");
  operations_.push_back(operation.raw());
}

/// Of scores; `right` may have one column or be a scalar, or be missing.
CudnnAttention::Tensor CudnnAttention::add_pointwise(const Pointwise& pointwise, const Tensor& left,
                                                     const Tensor* right) {
  CudnnDescriptor& how = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  how.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, pointwise.mode);
  how.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, pointwise.compute);
  how.finish("describing an operation on scores");
  const Tensor result = scores(pointwise.output, shape_.keys());
  CudnnDescriptor& operation = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set_descriptor(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how.raw());
  operation.set_descriptor(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, left.descriptor);
  if (right != nullptr) {
    operation.set_descriptor(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, right->descriptor);
  }
  operation.set_descriptor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, result.descriptor);
  operation.finish("adding an operation on scores");
  operations_.push_back(operation.raw());
  return result;
}

/// The row or column of each score.
CudnnAttention::Tensor CudnnAttention::add_index(const Tensor& scores_of, std::int64_t axis) {
  CudnnDescriptor& how = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  how.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, CUDNN_POINTWISE_GEN_INDEX);
  how.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  how.set(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, axis);
  how.finish("describing an index");
  const Tensor index = scores(CUDNN_DATA_INT32, shape_.keys());
  CudnnDescriptor& operation = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set_descriptor(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how.raw());
  operation.set_descriptor(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, scores_of.descriptor);
  operation.set_descriptor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, index.descriptor);
  operation.finish("adding an index");
  operations_.push_back(operation.raw());
  return index;
}

CudnnAttention::Tensor CudnnAttention::add_reduction(cudnnReduceTensorOp_t kind, const Tensor& scores_of) {
  CudnnDescriptor& how = make(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  how.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, kind);
  how.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  how.finish("describing a reduction");
  const Tensor result = scores(CUDNN_DATA_FLOAT, 1);
  CudnnDescriptor& operation = make(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  operation.set_descriptor(CUDNN_ATTR_OPERATION_REDUCTION_DESC, how.raw());
  operation.set_descriptor(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, scores_of.descriptor);
  operation.set_descriptor(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, result.descriptor);
  operation.finish("adding a reduction");
  operations_.push_back(operation.raw());
  return result;
}

CudnnAttention::Tensor CudnnAttention::add_select(const Tensor& scores_of, const Tensor& otherwise,
                                                  const Tensor& condition) {
  CudnnDescriptor& how = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  how.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, CUDNN_POINTWISE_BINARY_SELECT);
  how.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  how.finish("describing a mask");
  const Tensor result = scores(CUDNN_DATA_FLOAT, shape_.keys());
  CudnnDescriptor& operation = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set_descriptor(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how.raw());
  operation.set_descriptor(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, scores_of.descriptor);
  operation.set_descriptor(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, otherwise.descriptor);
  operation.set_descriptor(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, condition.descriptor);
  operation.set_descriptor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, result.descriptor);
  operation.finish("adding a mask");
  operations_.push_back(operation.raw());
  return result;
}

/// Row r is new token r, at position past + r, and sees columns up to that; of those a window leaves the last
/// ones: column > past + r - window. cuDNN recognises the masks by how they are put together: past as keys -
/// tokens, even where it is 0 (9.19 takes the graph for another without), and the window as a float on the
/// side of the columns.
CudnnAttention::Tensor CudnnAttention::add_masks(Tensor scores_of) {
  constexpr Pointwise kAddInteger{CUDNN_POINTWISE_ADD, CUDNN_DATA_INT32, CUDNN_DATA_INT32};
  constexpr Pointwise kSubtractInteger{CUDNN_POINTWISE_SUB, CUDNN_DATA_INT32, CUDNN_DATA_INT32};
  constexpr Pointwise kAddFloat{CUDNN_POINTWISE_ADD, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT};
  constexpr Pointwise kAtLeast{CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN, CUDNN_DATA_BOOLEAN};
  constexpr Pointwise kAbove{CUDNN_POINTWISE_CMP_GT, CUDNN_DATA_BOOLEAN, CUDNN_DATA_BOOLEAN};

  Tensor row = add_index(scores_of, kRowAxis);
  const Tensor column = add_index(scores_of, kColumnAxis);
  const Tensor keys = scalar(scalars_.keys);
  const Tensor tokens = scalar(scalars_.tokens);
  row = add_pointwise(kAddInteger, row, &keys);
  row = add_pointwise(kSubtractInteger, row, &tokens);
  const Tensor is_causal = add_pointwise(kAtLeast, row, &column);
  scores_of = add_select(scores_of, scalar(scalars_.hidden_score), is_causal);
  if (!shape_.is_limited()) {
    return scores_of;
  }
  const Tensor plain_row = add_index(scores_of, kRowAxis);
  const Tensor edge = scalar(scalars_.left_edge);
  const Tensor shifted = add_pointwise(kAddFloat, add_index(scores_of, kColumnAxis), &edge);
  const Tensor is_near = add_pointwise(kAbove, shifted, &plain_row);
  return add_select(scores_of, scalar(scalars_.hidden_score), is_near);
}

CudnnAttention::Tensor CudnnAttention::add_softmax(const Tensor& scores_of) {
  const Tensor highest = add_reduction(CUDNN_REDUCE_TENSOR_MAX, scores_of);
  const Tensor below = add_pointwise({.mode = CUDNN_POINTWISE_SUB}, scores_of, &highest);
  const Tensor weights = add_pointwise({.mode = CUDNN_POINTWISE_EXP}, below, nullptr);
  const Tensor sum = add_reduction(CUDNN_REDUCE_TENSOR_ADD, weights);
  return add_pointwise({.mode = CUDNN_POINTWISE_DIV, .output = CUDNN_DATA_BFLOAT16}, weights, &sum);
}

void CudnnAttention::add_attention() {
  query_ = tensor(query_tensor(shape_), CUDNN_DATA_BFLOAT16, Place::memory);
  keys_ = tensor(transposed_key_tensor(shape_), CUDNN_DATA_BFLOAT16, Place::memory);
  values_ = tensor(value_tensor(shape_), CUDNN_DATA_BFLOAT16, Place::memory);
  output_ = tensor(query_tensor(shape_), CUDNN_DATA_BFLOAT16, Place::memory);
  const Tensor products = scores(CUDNN_DATA_FLOAT, shape_.keys());
  add_product(query_, keys_, products);
  const Tensor scale = scalar(scalars_.scale);
  const Tensor scaled = add_pointwise({.mode = CUDNN_POINTWISE_MUL}, products, &scale);
  add_product(add_softmax(add_masks(scaled)), values_, output_);
}

void CudnnAttention::make_plan() {
  CudnnDescriptor& graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set_array(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                  static_cast<std::int64_t>(operations_.size()), operations_.data());
  cudnn_->set_gpu_of_graph(graph);
  graph.finish("putting the graph together");
  if (!try_plans(graph, CUDNN_HEUR_MODE_A) && !try_plans(graph, CUDNN_HEUR_MODE_FALLBACK)) {
    throw CudnnError("cuDNN has no engine for this attention");
  }
}

/// Makes the first plan that can be made; false where none can.
bool CudnnAttention::try_plans(const CudnnDescriptor& graph, cudnnBackendHeurMode_t mode) {
  const CudnnFunctions& functions = cudnn_->functions();
  CudnnDescriptor& heuristic = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.set_descriptor(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph.raw());
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
  cudnn_->set_gpu(heuristic, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
  heuristic.finish("asking for engines");
  std::int64_t count = 0;
  functions.require(functions.get_attribute(heuristic.raw(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                            CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr),
                    "counting engines");
  std::vector<cudnnBackendDescriptor_t> candidates;
  for (std::int64_t i = 0; i < count; ++i) {
    candidates.push_back(make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).raw());
  }
  functions.require(
      functions.get_attribute(heuristic.raw(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                              count, &count, static_cast<void*>(candidates.data())),
      "reading engines");
  candidates.resize(static_cast<std::size_t>(count));
  for (const cudnnBackendDescriptor_t candidate : candidates) {
    CudnnDescriptor plan(functions, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.set_descriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, candidate);
    cudnn_->set_gpu(plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
    if (functions.finalize(plan.raw()) == CUDNN_STATUS_SUCCESS) {
      plan_.emplace(std::move(plan));
      CudnnDescriptor engine(functions, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
      cudnnBackendDescriptor_t raw = engine.raw();
      functions.require(
          functions.get_attribute(candidate, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                  &count, static_cast<void*>(&raw)),
          "reading the engine");
      engine_ = engine.integer(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
      return true;
    }
  }
  return false;
}

std::int64_t CudnnAttention::workspace_bytes() const {
  return plan_->integer(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
}

kernels::LaunchResult CudnnAttention::launch(const CudnnAttentionBuffers& buffers, kernels::Stream stream) {
  std::vector<std::int64_t> ids = scalar_ids_;
  ids.insert(ids.end(), {query_.id, keys_.id, values_.id, output_.id});
  std::vector<void*> data = scalar_values_;
  data.insert(data.end(), {const_cast<void*>(buffers.query), const_cast<void*>(buffers.keys),
                           const_cast<void*>(buffers.values), buffers.output});
  const CudnnFunctions& functions = cudnn_->functions();
  CudnnDescriptor arguments(functions, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  arguments.set_sizes(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
  arguments.set_array(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                      static_cast<std::int64_t>(data.size()), data.data());
  arguments.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, buffers.workspace);
  arguments.finish("binding the arrays");
  cudnnStatus_t status = functions.set_stream(cudnn_->handle(), stream);
  if (status == CUDNN_STATUS_SUCCESS) {
    status = functions.execute(cudnn_->handle(), plan_->raw(), arguments.raw());
  }
  if (status != CUDNN_STATUS_SUCCESS) {
    return {kernels::KernelStatus::failed, functions.error_string(status)};
  }
  return {};
}

}  // namespace inferometer
