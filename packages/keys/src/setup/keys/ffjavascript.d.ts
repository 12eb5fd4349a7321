// Types of the parts of ffjavascript that this project uses; the package has no types. Points and field elements are
// bytes in the library's internal form (little-endian Montgomery); `toObject` gives bigints.
declare module "ffjavascript" {
  export interface Field {
    readonly n8: number;
    readonly zero: Uint8Array;
    fromRng(rng: ChaCha): Uint8Array;
    e(value: bigint): Uint8Array;
    toObject(element: Uint8Array): bigint;
  }
  export interface Group {
    readonly g: Uint8Array;
    fromRng(rng: ChaCha): Uint8Array;
    toAffine(point: Uint8Array): Uint8Array;
    timesFr(point: Uint8Array, scalar: Uint8Array): Uint8Array;
    toObject(point: Uint8Array): unknown;
    toRprLEM(buffer: Uint8Array, offset: number, point: Uint8Array): void;
    toRprUncompressed(buffer: Uint8Array, offset: number, point: Uint8Array): void;
  }
  export interface Curve {
    readonly Fr: Field;
    readonly G1: Group;
    readonly G2: Group;
    readonly Gt: { toObject(element: Uint8Array): unknown };
    pairing(g1: Uint8Array, g2: Uint8Array): Uint8Array;
    readonly tm: { readonly code: Uint8Array<ArrayBuffer>; readonly pG1gen: number; readonly pG2gen: number };
    terminate(): Promise<void>;
  }
  export class ChaCha {
    constructor(seed: number[]);
  }
  export function buildBn128(singleThread: boolean): Promise<Curve>;
}
