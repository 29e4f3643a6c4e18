/** @file model.h
 * Part of orrery.h: trained models. */
#ifndef ORRERY_MODEL_H
#define ORRERY_MODEL_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup model Models
 * Computes with trained transformers from checkpoints (*.safetensors): next states, forces, logits,
 * attention maps and continuations, on the CPU in fp32. A call computes with all cores; calls of
 * several handles wait for one another. The library opens cJSON at run time to read checkpoints,
 * and oneDNN to compute; without oneDNN, slower plain loops compute in one thread
 * (orrery_shape.reference). @{ */

/** A handle: see orrery_model_create(). */
struct orrery_model;

/** Kinds of input of a model. */
enum orrery_input {
    ORRERY_BINS = 0,        /**< two tokens per position: bins of x and y */
    ORRERY_COORDINATES = 1, /**< x and y as floats */
    ORRERY_CHARACTERS = 2,  /**< one token per row */
    ORRERY_SPACE = 3        /**< x, y and z as floats */
};
/** Kinds of output of a model at each row. */
enum orrery_head {
    ORRERY_HEAD_BINS = 0,      /**< logits of the bins of x, then of y */
    ORRERY_HEAD_NUMBERS = 1,   /**< numbers: the next position, or a force */
    ORRERY_HEAD_CHARACTERS = 2 /**< logits of the next token */
};
/** Gates that multiply the output of attention. */
enum orrery_gate {
    ORRERY_GATE_NONE = 0,    /**< no gate */
    ORRERY_GATE_SIGMOID = 1, /**< sigmoid of a linear map of the attention's input */
    ORRERY_GATE_SOFTPLUS = 2 /**< softplus of a linear map of the attention's input */
};
/** Position encodings of a model. */
enum orrery_positions {
    ORRERY_LEARNED = 0,     /**< a learned vector per row */
    ORRERY_ROPE = 1,        /**< rotary positions of queries and keys */
    ORRERY_NO_POSITIONS = 2 /**< no position encoding */
};

/** The shape of a model, with its present attention (orrery_model_attend). */
struct orrery_shape {
    size_t bytes;          /**< sizeof(struct orrery_shape) */
    int layers;            /**< blocks */
    int heads;             /**< attention heads per block */
    int width;             /**< C, the width of the residual stream */
    int feedforward;       /**< hidden units of a feed-forward layer */
    int context;           /**< maximum number of rows in a sequence */
    int input;             /**< enum orrery_input */
    int head;              /**< enum orrery_head */
    int outputs;           /**< outputs per row */
    int vocabulary;        /**< tokens per channel; 0: coordinates are the input */
    int positions;         /**< enum orrery_positions */
    int gate;              /**< enum orrery_gate */
    const char *attention; /**< the variant; valid until the next call */
    double power;          /**< of re-weighted variants */
    int window;            /**< most keys that a row attends to; 0: all earlier ones */
    uint64_t parameters;   /**< number of trained parameters */
    int64_t step;          /**< training step of the checkpoint */
    int reference;         /**< 1: computed by plain loops */
    int reweight;          /**< 1: rows are re-weighted, whatever `attention` is */
    int unshifted_rows;    /**< rows of up to this many keys are neither shifted nor re-centred */
    double rope_base;      /**< base of rotary positions */
};
/** Rows of sequences for a model; the array that is not the model's input is NULL. Each sequence
 * begins `stride` rows after the one before, so that arrays of orrery_arrays can be passed as they
 * are. */
struct orrery_sequences {
    size_t bytes;             /**< sizeof(struct orrery_sequences) */
    size_t sequences;         /**< n, at least 1 */
    size_t rows;              /**< T, 1 to the model's context; row 0 of orbits is the time step */
    size_t stride;            /**< at least T; 0: T */
    const uint16_t *tokens;   /**< (n, stride, 2) below the vocabulary; characters: (n, stride) */
    const float *coordinates; /**< (n, stride, 2), in space (n, stride, 3), finite */
};
/** Changes of a model's attention after training; 0 or NULL changes nothing. */
struct orrery_attend {
    size_t bytes;          /**< sizeof(struct orrery_attend) */
    const char *attention; /**< another variant */
    int reweight;          /**< 1: turns LSSAR's re-weighting on, 2: off */
    double power;          /**< exponent of the re-weighting, at least 1 */
    int set_window;        /**< 1: `window` applies */
    int window;            /**< 0: all earlier rows */
    int context;           /**< longer than trained: with rotary positions, or without positions */
    int ntk;               /**< 1: NTK-aware scaling of rotary positions, for a longer context */
};

/** Creates a handle.
 * @param interface_ ORRERY_INTERFACE
 * @param model *model becomes the handle, NULL after an error; free it with orrery_model_free()
 * @return ORRERY_OK, ORRERY_EINVAL, ORRERY_ENOMEM or ORRERY_EVERSION */
ORRERY_CALL int orrery_model_create(int interface_, struct orrery_model **model);
/** Frees a handle.
 * @param model a handle that no call uses, or NULL */
ORRERY_CALL void orrery_model_free(struct orrery_model *model);
/** Opens a checkpoint, with its averaged weights if it has them. After an error the handle keeps
 * its former model.
 * @param model the handle
 * @param path of a file *.safetensors
 * @param threads 0: all cores
 * @param reference 1: plain loops, even if oneDNN is available
 * @return a status; ORRERY_EIO, ORRERY_EFORMAT; ORRERY_EMISSING: no such file, or no cJSON */
ORRERY_CALL int orrery_model_open(struct orrery_model *model, const char *path, int threads,
                                  int reference);
/** Describes the model.
 * @param model the handle
 * @param shape is filled; the caller sets shape->bytes
 * @return a status */
ORRERY_CALL int orrery_model_describe(struct orrery_model *model, struct orrery_shape *shape);
/** Writes a value of the checkpoint's metadata as text, as orrery_regression_print() does.
 * docs/checkpoints.md lists the keys; "made" is the record of what the model was made from (JSON).
 * @param model the handle
 * @param key of the metadata
 * @param text (bytes); NULL: only *needed is set
 * @param bytes of text
 * @param needed *needed becomes the size of the text in bytes, with its NUL; may be NULL
 * @return a status; ORRERY_EMISSING: no such key */
ORRERY_CALL int orrery_model_metadata(struct orrery_model *model, const char *key, char *text,
                                      size_t bytes, size_t *needed);
/** Changes the model's attention, relative to its training. ORRERY_EUSAGE if a change does not
 * apply to the model, which is then unchanged.
 * @param model the handle
 * @param attend the changes; NULL: attends as trained
 * @return a status */
ORRERY_CALL int orrery_model_attend(struct orrery_model *model, const struct orrery_attend *attend);
/** Computes the output of the head at each row: logits of bins (of x, then of y), logits of
 * characters, or numbers.
 * @param model the handle
 * @param sequences rows for the model
 * @param outputs (n, T, outputs)
 * @return a status */
ORRERY_CALL int orrery_model_outputs(struct orrery_model *model,
                                     const struct orrery_sequences *sequences, float *outputs);
/** Predicts the position that follows each row, in units of the input. For bins, the centre of the
 * most probable bin in AU, in a square from -extent_au to extent_au; coordinates do not need
 * extent_au. ORRERY_EINVAL if the model does not predict the next state.
 * @param model the handle
 * @param sequences rows for the model
 * @param extent_au of bins: half the side of the square, AU
 * @param next (n, T, 2), in space (n, T, 3)
 * @return a status */
ORRERY_CALL int orrery_model_next(struct orrery_model *model,
                                  const struct orrery_sequences *sequences, double extent_au,
                                  double *next);
/** Computes the forces of a fine-tuned model: (n, T), magnitudes in solar masses AU / yr^2, or (n,
 * T, 2), in space (n, T, 3), vectors in the units of each body that the metadata "force" lists.
 * ORRERY_EINVAL if the model was not fine-tuned on forces; ORRERY_EMISSING if its checkpoint, of an
 * earlier version, does not say how magnitudes are scaled.
 * @param model the handle
 * @param sequences rows for the model
 * @param force (n, T), (n, T, 2) or (n, T, 3)
 * @return a status */
ORRERY_CALL int orrery_model_forces(struct orrery_model *model,
                                    const struct orrery_sequences *sequences, double *force);
/** Computes the attention weights of a layer; 0 for keys that a row does not attend to.
 * @param model the handle
 * @param sequences rows for the model
 * @param layer from 0
 * @param weights (n, heads, T, T)
 * @return a status */
ORRERY_CALL int orrery_model_attention(struct orrery_model *model,
                                       const struct orrery_sequences *sequences, int layer,
                                       double *weights);
/** Continues sequences autoregressively, with cached keys and values. Rows from `prefix` on are not
 * read; their predictions are written to path, as orrery_model_next() makes them.
 * @param model the handle
 * @param sequences rows for the model
 * @param prefix rows that are given, 1 to T
 * @param extent_au of bins: half the side of the square, AU
 * @param path (n, T, 2), in space (n, T, 3)
 * @return a status */
ORRERY_CALL int orrery_model_rollout(struct orrery_model *model,
                                     const struct orrery_sequences *sequences, size_t prefix,
                                     double extent_au, float *path);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
