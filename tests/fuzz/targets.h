/* targets.h - the fuzz targets: name, the sources that they are about, what an input is. Included
 * with FUZZ(name, sources, input) defined. */
FUZZ(attention, "api/attention.c", "shapes and arrays of attention")
FUZZ(categories, "symreg/solve/category.c", "the category column, and two tables that have it")
FUZZ(cell, "compare/cells_record.c", "cell.json")
FUZZ(columns, "symreg/solve/table.c", "names of columns, and the table that has them")
FUZZ(csv, "base/csv.c", "a table of numbers")
FUZZ(dataset, "sim/data/dataset.c sim/data/check_arrays.c",
     "the .npy files of a data set, one after the other")
FUZZ(expr, "formula/text.c symreg/select/units.c", "formulas, units, constraints, operators")
FUZZ(front, "api/front.c", "calls about the front of a search")
FUZZ(laws, "figures/read_laws.c", "laws.json")
FUZZ(layouts,
     "symreg/layout/recognise.c symreg/layout/separated.c symreg/layout/ipac.c "
     "symreg/layout/byte_by_byte.c",
     "a table in a layout of astronomy")
FUZZ(log, "figures/read_logs.c model/train/log.c", "log.jsonl")
FUZZ(manifest, "sim/data/manifest.c sim/data/verify.c sim/data/records.c",
     "manifest.json or progress.json")
FUZZ(model, "model/checkpoint.c", "a checkpoint of a model")
FUZZ(modelcalls, "api/model.c api/predict.c", "calls of a model, and its checkpoint")
FUZZ(names, "sim/data/shard.c base/file.c", "names of files")
FUZZ(npy, "base/npy.c", "one .npy file")
FUZZ(predict, "symreg/table/predict.c symreg/table/predict_interval.c",
     "front.json of a search, and a table to predict")
FUZZ(preset, "stage/settings.c base/json.c", "a preset file")
FUZZ(records, "stage/sidecar.c probe/results.c", "records beside results")
FUZZ(regression, "api/regress.c api/options.c api/table.c", "settings and a table of numbers")
FUZZ(results, "api/results.c api/columns.c", "files of results")
FUZZ(safetensors, "base/safetensors.c", "one safetensors file")
FUZZ(search, "symreg/evolve/checkpoint.c symreg/evolve/search.c", "changes to checkpoint.bin")
FUZZ(shard, "model/text/text_files.c", "a token shard, or text")
FUZZ(simulation, "api/simulate.c", "an orbit, and lines of settings")
FUZZ(tables, "laws/forces.c figures/read.c figures/read_rollouts.c", "tables of forces, rollouts")
FUZZ(templates, "symreg/select/template.c", "a template, and formulas as its instances")
FUZZ(tracks, "symreg/motion/tracks.c", "names of columns, and tracks of bodies")
