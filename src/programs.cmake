# The executables: the coordinator holds no engine; each worker holds exactly one.
