// Entry `@sotto/protocol/wasm`: the encoder behind the WebAssembly kernels that protocol and prover generate.
export { encodeModule, type ModuleSections, signed, text, unsigned, vector } from "./wasm/encoding.ts";
