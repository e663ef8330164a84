// Translates the lines of standard input by Marian as browsers run it, each by itself.
//
// node marian_engine.cjs PACKAGE FOLDER: PACKAGE is npm's @browsermt/bergamot-translator, FOLDER an exported model,
// Marian's in float32 or, with records of its files, Firefox's in int8.
const fs = require('fs'), path = require('path'), vm = require('vm');
const [worker, folder] = [path.join(process.argv[2], 'worker'), process.argv[3]];
const records = path.join(folder, 'records.json');
const FILES = fs.existsSync(records)
  ? Object.fromEntries(JSON.parse(fs.readFileSync(records)).map(({fileType, name}) => [fileType, name]))
  : {model: 'model.bin', srcvocab: 'source.spm', trgvocab: 'vocab.spm', lex: 'lex.bin'};
const CONFIGURATION = `
beam-size: 1
normalize: 1.0
word-penalty: 0
cpu-threads: 0
gemm-precision: ${fs.existsSync(records) ? 'int8shiftAlphaAll' : 'float32'}
skip-cost: true
alignment: soft
quiet: true
quiet-translation: true
max-length-break: 128
mini-batch-words: 1024
max-length-factor: 2.0
workspace: 16
`;
// The engine's 8-bit products.
const PRODUCTS = {
  int8_prepare_a: 'int8PrepareAFallback',
  int8_prepare_b: 'int8PrepareBFallback',
  int8_prepare_b_from_transposed: 'int8PrepareBFromTransposedFallback',
  int8_prepare_b_from_quantized_transposed: 'int8PrepareBFromQuantizedTransposedFallback',
  int8_prepare_bias: 'int8PrepareBiasFallback',
  int8_multiply_and_add_bias: 'int8MultiplyAndAddBiasFallback',
  int8_select_columns_of_b: 'int8SelectColumnsOfBFallback',
};

globalThis.Module = {
  instantiateWasm(imports, accept) {
    const code = fs.readFileSync(path.join(worker, 'bergamot-translator-worker.wasm'));
    const products = Object.entries(PRODUCTS).map(([name, own]) => [name, (...all) => Module.asm[own](...all)]);
    const all = {...imports, wasm_gemm: Object.fromEntries(products)};
    WebAssembly.instantiate(code, all).then(({instance}) => accept(instance));
    return {};
  },
  onRuntimeInitialized: main,
};

function memory(name, alignment) {
  if (!name || !fs.existsSync(path.join(folder, name))) return null;
  const bytes = fs.readFileSync(path.join(folder, name));
  const place = new Module.AlignedMemory(bytes.byteLength, alignment);
  place.getByteArrayView().set(bytes);
  return place;
}

function main() {
  const vocabularies = new Module.AlignedMemoryList();
  for (const kind of ['vocab', 'srcvocab', 'trgvocab']) {
    const vocabulary = memory(FILES[kind], 64);
    if (vocabulary) vocabularies.push_back(vocabulary);
  }
  const [binary, shortlist] = [memory(FILES.model, 256), memory(FILES.lex, 64)];
  const model = new Module.TranslationModel(CONFIGURATION, binary, shortlist, vocabularies, null);
  const service = new Module.BlockingService({cacheSize: 0});
  for (const line of fs.readFileSync(0, 'utf8').split('\n').slice(0, -1)) {
    const [input, options] = [new Module.VectorString(), new Module.VectorResponseOptions()];
    input.push_back(line);
    options.push_back({alignment: false, html: false, qualityScores: false});
    console.log(service.translate(model, input, options).get(0).getTranslatedText());
  }
}

vm.runInThisContext(fs.readFileSync(path.join(worker, 'bergamot-translator-worker.js'), 'utf8'));
