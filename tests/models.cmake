# test_models: the small ONNX models that tests/make_models.py lists, in <build>/test_models.
set(_models ${CMAKE_BINARY_DIR}/test_models)
add_custom_command(OUTPUT ${_models}/made
  COMMAND ${FIEL_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/make_models.py ${_models}
  COMMAND ${CMAKE_COMMAND} -E touch ${_models}/made
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/make_models.py VERBATIM)
add_custom_target(test_models DEPENDS ${_models}/made)
