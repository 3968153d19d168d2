# The executables: the coordinator holds no engine; each worker holds exactly one.
add_custom_target(programs)

function(fiel_program name source)
  cmake_parse_arguments(program "" "" "NEEDS" ${ARGN})
  add_executable(${name} ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  target_link_libraries(${name} PRIVATE fiel_flags ${program_NEEDS})
  add_dependencies(programs ${name})
  set_property(GLOBAL APPEND PROPERTY FIEL_PROGRAMS ${name})  # which a wheel carries
endfunction()

# An engine's own tests and those that any engine must pass, in one program.
function(fiel_engine_test engine)
  if(NOT FIEL_TESTS)
    return()
  endif()
  set(test ${engine}_engine_test)
  add_executable(${test} worker/engine_${engine}_test.cpp worker/any_engine_test.cpp)
  target_link_libraries(${test} PRIVATE fiel_engine_${engine} GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(${test} PRIVATE FIEL_TEST_MODELS="${CMAKE_BINARY_DIR}/test_models"
                             FIEL_PYTHON="${FIEL_PYTHON}" FIEL_WORKER="$<TARGET_FILE:fiel-worker-${engine}>")
  add_dependencies(${test} test_models fiel-worker-${engine})
  gtest_discover_tests(${test} TEST_PREFIX ${engine}. PROPERTIES LABELS engine TIMEOUT 300 DISCOVERY_TIMEOUT 60)
endfunction()

fiel_program(fiel cli/main.cpp NEEDS fiel_cli)
fiel_program(fiel-node pool/node_main.cpp NEEDS fiel_pool)
fiel_program(fiel-worker-loop worker/loop_worker_main.cpp NEEDS fiel_worker)

# An engine is a library of its own, so that its worker and its tests hold it and nobody else does.
file(GLOB _openvino_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/worker/engine_openvino*.cpp)
list(FILTER _openvino_sources EXCLUDE REGEX "_test\\.cpp$")
add_library(fiel_engine_openvino STATIC ${_openvino_sources})
fiel_embed(fiel_engine_openvino worker/knobs_openvino.toml openvino_knobs)
target_link_libraries(fiel_engine_openvino PUBLIC fiel_worker PRIVATE openvino::runtime)
fiel_program(fiel-worker-openvino worker/openvino_worker_main.cpp NEEDS fiel_engine_openvino)
# The engine's libraries stay in the wheel; the worker finds them there from wherever it is started.
set_target_properties(fiel-worker-openvino PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
fiel_engine_test(openvino)

# The same for ONNX Runtime, but linked to none of its libraries: the worker loads one when it runs.
if(FIEL_HAS_ONNXRUNTIME)
  file(GLOB _onnxruntime_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/worker/engine_onnxruntime*.cpp)
  list(FILTER _onnxruntime_sources EXCLUDE REGEX "_test\\.cpp$")
  add_library(fiel_engine_onnxruntime STATIC ${_onnxruntime_sources})
  fiel_embed(fiel_engine_onnxruntime worker/knobs_onnxruntime.toml onnxruntime_knobs)
  target_link_libraries(fiel_engine_onnxruntime PUBLIC fiel_worker fiel_onnx_proto PRIVATE fiel_onnxruntime_headers)
  target_compile_definitions(fiel_engine_onnxruntime PRIVATE FIEL_VENV="${FIEL_VENV}")
  fiel_program(fiel-worker-onnxruntime worker/onnxruntime_worker_main.cpp NEEDS fiel_engine_onnxruntime)
  fiel_engine_test(onnxruntime)
endif()

# TensorRT by the user's own trtexec: nothing of TensorRT or CUDA is needed to build it. Its tests have a double of that program.
file(GLOB _trtexec_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/worker/engine_trtexec*.cpp)
list(FILTER _trtexec_sources EXCLUDE REGEX "_test\\.cpp$")
add_library(fiel_engine_trtexec STATIC ${_trtexec_sources})
fiel_embed(fiel_engine_trtexec worker/knobs_trtexec.toml trtexec_knobs)
target_link_libraries(fiel_engine_trtexec PUBLIC fiel_worker)
fiel_program(fiel-worker-trtexec worker/trtexec_worker_main.cpp NEEDS fiel_engine_trtexec)
if(FIEL_TESTS)
  add_executable(trtexec_engine_test worker/engine_trtexec_test.cpp)
  target_link_libraries(trtexec_engine_test PRIVATE fiel_engine_trtexec GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(trtexec_engine_test PRIVATE FIEL_TRTEXEC_DOUBLE="${CMAKE_SOURCE_DIR}/tests/trtexec_double.py"
                             FIEL_PYTHON="${FIEL_PYTHON}")
  gtest_discover_tests(trtexec_engine_test TEST_PREFIX trtexec. PROPERTIES LABELS unit TIMEOUT 120)
endif()

# The scripted engine (docs/fake-engine.md). Its worker speaks the protocol by itself, since half of its faults are things
# that the workers' common loop never does.
file(GLOB _fake_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/worker/engine_fake*.cpp)
add_library(fiel_engine_fake STATIC ${_fake_sources})
target_link_libraries(fiel_engine_fake PUBLIC fiel_flags fiel_model)
fiel_program(fiel-worker-fake worker/fake_worker_main.cpp NEEDS fiel_engine_fake)
if(FIEL_TESTS)
  add_dependencies(pool_test fiel-worker-fake fiel-node)
endif()
