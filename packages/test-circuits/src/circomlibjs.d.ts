declare module "circomlibjs" {
  interface Field {
    /** The field element's internal form. */
    e(value: bigint): Uint8Array;
    toObject(element: Uint8Array): bigint;
  }
  interface Poseidon {
    (inputs: readonly bigint[], initialState?: bigint, outputs?: number): Uint8Array & Uint8Array[];
    F: Field;
  }
  interface Signature {
    R8: [Uint8Array, Uint8Array];
    S: bigint;
  }
  interface Eddsa {
    F: Field;
    prv2pub(key: Uint8Array): [Uint8Array, Uint8Array];
    signPoseidon(key: Uint8Array, message: Uint8Array): Signature;
  }
  interface Tree {
    F: Field;
    root: Uint8Array;
    insert(key: bigint, value: bigint): Promise<unknown>;
    find(key: bigint): Promise<{ siblings: Uint8Array[] }>;
  }
  export function buildPoseidon(): Promise<Poseidon>;
  export function buildMimc7(): Promise<{ multiHash(inputs: readonly bigint[], key: bigint): Uint8Array; F: Field }>;
  export function buildMimcSponge(): Promise<{ multiHash(inputs: readonly bigint[]): Uint8Array; F: Field }>;
  export function buildPedersenHash(): Promise<{ hash(message: Uint8Array): Uint8Array }>;
  export function buildBabyjub(): Promise<{ F: Field; unpackPoint(packed: Uint8Array): [Uint8Array, Uint8Array] }>;
  export function buildEddsa(): Promise<Eddsa>;
  export function newMemEmptyTrie(): Promise<Tree>;
}
