// Types of the part of wasmcurves that src/curve.ts uses; the package has none.
declare module "wasmcurves/build/bn128_wasm.js" {
  const bn128: {
    /** The WebAssembly module, base64. */
    readonly code: string;
    /** Sizes of a G1 and a G2 point prepared for the Miller loop, bytes. */
    readonly prePSize: number;
    readonly preQSize: number;
  };
  export default bn128;
}
