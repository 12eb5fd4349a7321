declare module "circomlibjs" {
  interface Field {
    toObject(element: Uint8Array): bigint;
  }
  interface Poseidon {
    (inputs: readonly bigint[], initialState?: bigint, outputs?: number): Uint8Array & Uint8Array[];
    F: Field;
  }
  export function buildPoseidon(): Promise<Poseidon>;
}
