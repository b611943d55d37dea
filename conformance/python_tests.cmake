# The Python tests of every room, one CTest entry per file, called ROOM.FILE. A file in which pytest skipped anything ends
# with 77, so that CTest shows it as skipped instead of passed (conftest.py). The tests look for xxhash.h where this build found it.
set(PDL_TEST_PYTHON "${Python3_EXECUTABLE}" CACHE FILEPATH "Python with pytest, hypothesis and jsonschema")
file(GLOB python_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*/tests/test_*.py)
foreach(file IN LISTS python_tests)
  string(REGEX REPLACE "^.*/([^/]+)/tests/test_([^/]+)\\.py$" "\\1.\\2" name "${file}")
  string(REPLACE "stress.stress_" "stress." name "${name}")
  add_test(NAME ${name} COMMAND ${PDL_TEST_PYTHON} -m pytest ${file} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS "nogpu;python" SKIP_RETURN_CODE 77
    ENVIRONMENT "XXHASH_INCLUDE_DIR=${XXHASH_INCLUDE_DIR}")
endforeach()
