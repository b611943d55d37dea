# cmake -DHARNESS=FILE -P sick_device.cmake: hardware that cannot be used is no absent one. PDL_COUNT_FAILS: what cudaGetDeviceCount gives.
function(expect_code code error)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env PDL_COUNT_FAILS=${error} ${HARNESS} ${ARGN} OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE got)
  if(NOT got EQUAL code)
    message(FATAL_ERROR "${ARGN} ended with ${got} instead of ${code} where the count of devices gives error ${error}")
  endif()
endfunction()

foreach(asked "--probe" "--family;wait;--profile;smoke")
  expect_code(77 100 ${asked}) # cudaErrorNoDevice
  expect_code(69 999 ${asked}) # cudaErrorUnknown
  expect_code(69 3 ${asked})   # cudaErrorInitializationError
  expect_code(69 802 ${asked}) # cudaErrorSystemNotReady
  expect_code(69 46 ${asked})  # cudaErrorDevicesUnavailable
  expect_code(77 0 ${asked})   # no error, and no device
  set(ENV{PDL_NO_DRIVER} 1)
  expect_code(77 35 ${asked})  # cudaErrorInsufficientDriver, which is what a machine without any driver gives
  unset(ENV{PDL_NO_DRIVER})
  expect_code(69 35 ${asked})  # and one with a driver that is too old
endforeach()
execute_process(COMMAND ${CMAKE_COMMAND} -E env PDL_COUNT_FAILS=999 ${HARNESS} --probe OUTPUT_VARIABLE said RESULT_VARIABLE got)
if(NOT said MATCHES "\"usable\":false,\"devices\":0,\"error\":\"cudaErrorUnknown\",\"call\":\"cudaSetDevice.*\",\"name\":null")
  message(FATAL_ERROR "what is wrong with the device is not told: ${said}")
endif()

# Nor is one whose clock cannot be measured: readings of it are compared.
foreach(asked "--probe" "--family;wait;--profile;smoke")
  execute_process(COMMAND ${CMAKE_COMMAND} -E env PDL_CLOCK_FAILS=801 ${HARNESS} ${asked} OUTPUT_VARIABLE said ERROR_QUIET RESULT_VARIABLE got)
  if(NOT got EQUAL 69 OR said MATCHES "\"usable\":true|\"record\":\"case\"")
    message(FATAL_ERROR "${asked} ended with ${got} on a device without a clock: ${said}")
  endif()
endforeach()

# What is asked for is the device that is looked at and judged.
foreach(asked "--probe" "--family;wait;--case;WAIT-01.store.widened.captured;--profile;smoke")
  execute_process(COMMAND ${SECOND} ${asked} OUTPUT_VARIABLE said RESULT_VARIABLE got)
  if(NOT got EQUAL 0 OR NOT said MATCHES "\"cc\":100")
    message(FATAL_ERROR "${asked} ended with ${got}, and did not speak of the second device: ${said}")
  endif()
endforeach()

# A case that CTest runs by itself has not passed where the device hung in it, and a trial that is repeated has not ended.
set(hangs --family wait --case WAIT-05.rewait.widened.stream --profile smoke --device model:second-wait-hangs)
foreach(asked "1" "71;--trial;0.1;--repeat;3")
  list(POP_FRONT asked code)
  execute_process(COMMAND ${HARNESS} ${hangs} ${asked} OUTPUT_VARIABLE said RESULT_VARIABLE got)
  if(NOT got EQUAL code OR said MATCHES "\"record\":\"done\"")
    message(FATAL_ERROR "a case that hung ended with ${got} instead of ${code}: ${said}")
  endif()
endforeach()

# Nor has one that failed, or that proved nothing; one that passed has, and of one that only observes nothing is said.
function(expect_end case device code)
  execute_process(COMMAND ${HARNESS} --case ${case} --profile smoke --device ${device} OUTPUT_QUIET RESULT_VARIABLE got)
  if(NOT got EQUAL code)
    message(FATAL_ERROR "${case} on ${device} ended with ${got} instead of ${code}")
  endif()
endfunction()
execute_process(COMMAND ${CMAKE_COMMAND} -E env PDL_WAIT_FAILS=719 ${HARNESS} --family last_error --case ATTR-15e.names.widened.stream
                        --profile smoke --device model OUTPUT_QUIET RESULT_VARIABLE got)
if(NOT got EQUAL 71)
  message(FATAL_ERROR "a case that lost the device ended with ${got} instead of 71")
endif()
expect_end(WAIT-01.store.widened.captured model:wait-at-trigger 1)
expect_end(WAIT-01.store.natural.captured model:wait-at-trigger 1)
expect_end(WAIT-01.store.widened.captured model:never-overlaps 2)
expect_end(WAIT-01.store.widened.captured model 0)
expect_end(WAIT-01.store.natural.captured model 77)
expect_end(ATTR-02.store.widened.captured model 77)
expect_end(FWD-05.deep.widened.captured model:large-graph-cut 77) # a finding
expect_end(COMP-15.lazy.widened.stream model 77) # what the model lacks
expect_end(FWD-06a.mixes.widened.stream model:never-overlaps 77)
# Nor has one whose kernels overlapped in some trials, and not in most: floors are halves.
foreach(case MEM-09.host_end.widened.stream MEM-06a.graphs.widened.stream EDGE-09b.million.widened.built EDGE-09c.two.widened.built)
  expect_end(${case} model:seldom-overlaps 2)
endforeach()
execute_process(COMMAND ${HARNESS} --family room --profile smoke --device model:never-overlaps OUTPUT_QUIET RESULT_VARIABLE got)
if(NOT got EQUAL 0) # the one case of its family, and pdlkit judges families by their records
  message(FATAL_ERROR "a family whose one case was skipped ended with ${got}")
endif()
