/* A stand-in for cudaFuncGetParamInfo, which the model does not have: every function has this many parameters, and the query
 * past the last one fails as CUDA's does. Negative: it always fails, with another error. */
extern int param_info_count;
