/* Translation by the small models that Weebill makes, without Python: the C interface of weebill-runtime.
 *
 *     weebill_options options = WEEBILL_OPTIONS;
 *     options.threads = 2;
 *     weebill_translator *translator = weebill_load("model", &options);
 *     if (!translator) { fprintf(stderr, "%s\n", weebill_last_error()); exit(1); }
 *     weebill_text line = {"Her dog sleeps.", 15}, translation;
 *     if (weebill_translate(translator, &line, 1, &translation) == 0) {
 *       puts(translation.data);
 *       weebill_free_texts(&translation, 1);
 *     }
 *     weebill_free(translator);
 *
 * Link with libweebill.  Functions may be called from any thread; calls with one translator wait for each other.
 * WEEBILL_INTERFACE grows by one with each addition.  What is here is neither changed nor removed: a program that was
 * compiled with an older header runs with a newer library. */
#ifndef WEEBILL_H
#define WEEBILL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEEBILL_INTERFACE 1

#if defined(__GNUC__)
#define WEEBILL_API __attribute__((visibility("default")))
#else
#define WEEBILL_API
#endif

/* A model folder in memory. */
typedef struct weebill_translator weebill_translator;

/* Text in UTF-8, `size` bytes; those that the library returns end in a zero byte, which is not counted. */
typedef struct weebill_text {
  const char *data;
  size_t size;
} weebill_text;

typedef struct weebill_options {
  size_t bytes;                /* of this structure; set by WEEBILL_OPTIONS */
  int threads;                 /* that translate in parallel, each with memory of its own for its layers */
  const char *shortlist;       /* file of the pieces to which translations are restricted; NULL: none */
  const char *instruction_set; /* such as "avx2" or "dotprod"; NULL: the fastest that the processor has */
  int max_length;              /* pieces of a line; of a longer one only the first are translated */
  int batch_size;              /* lines that are translated together; 0: as many as is fastest */
  /* Called for each line that is longer than max_length, by its place in the call, from 0; NULL: nobody is told. */
  void (*on_cut)(void *data, size_t line, size_t pieces, size_t kept);
  void *data; /* for on_cut */
} weebill_options;

#define WEEBILL_OPTIONS {sizeof(weebill_options), 1, NULL, NULL, 200, 0, NULL, NULL}

/* Load a model folder: config.json, model.safetensors, vocab.spm, and source.spm if there are two vocabularies.
 * options: NULL for the default ones.  Returns NULL on an error. */
WEEBILL_API weebill_translator *weebill_load(const char *folder, const weebill_options *options);

/* Translate `count` lines; write as many translations, in their order, to be freed by weebill_free_texts.  An empty
 * line has the empty translation.  Returns 0, or another number on an error; then nothing is to be freed. */
WEEBILL_API int weebill_translate(weebill_translator *translator, const weebill_text *lines, size_t count,
                                  weebill_text *translations);

/* Free the texts of an array, not the array. */
WEEBILL_API void weebill_free_texts(weebill_text *texts, size_t count);

/* Free a translator; NULL is allowed. */
WEEBILL_API void weebill_free(weebill_translator *translator);

/* The instruction set that translates; valid as long as the translator. */
WEEBILL_API const char *weebill_instruction_set(const weebill_translator *translator);

/* What went wrong in this thread's last call that failed, in one line; valid until its next call that fails. */
WEEBILL_API const char *weebill_last_error(void);

/* The library's version, such as "0.1.0", and its WEEBILL_INTERFACE. */
WEEBILL_API const char *weebill_version(void);
WEEBILL_API int weebill_interface(void);

#ifdef __cplusplus
}
#endif

#endif
