# Untested: no container engine was at hand; tests/weebill_runtime/test_container.py runs what it copies in a chroot.
# Container image of one student and the program that translates with it, without Python:
#   make program
#   docker build --file envs/student.Dockerfile --tag student \
#     --build-context student=results/EXPERIMENT/models/STUDENT/RECIPE/int8 dist/program
#   docker run --rm --interactive student < in.en > out.de
# The base's C library must not be older than that of the machine that built the program.
FROM debian:stable-slim
COPY bin/weebill-translate /usr/local/bin/
COPY --from=student . /student/
USER nobody
ENTRYPOINT ["weebill-translate", "/student"]
