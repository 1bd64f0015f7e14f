# Fails unless FILE is one JSON object with a "schema". CMake can read JSON and is there anyway.
file(READ "${FILE}" text)
string(JSON schema GET "${text}" schema)
