/** Types of the part of circomlibjs that the tests use as an oracle. Field elements are bytes in Montgomery form. */
declare module "circomlibjs" {
  export type Element = Uint8Array;
  export interface FieldOfBytes {
    e(value: bigint | number): Element;
    toObject(value: Element): bigint;
    add(a: Element, b: Element): Element;
    sub(a: Element, b: Element): Element;
    mul(a: Element, b: Element): Element;
    div(a: Element, b: Element): Element;
  }
  export interface PoseidonReference {
    (inputs: readonly bigint[], initialState?: bigint, outputs?: number): Element | Element[];
    F: FieldOfBytes;
  }
  export interface BabyjubReference {
    F: FieldOfBytes;
    Base8: [Element, Element];
    Generator: [Element, Element];
    addPoint(a: [Element, Element], b: [Element, Element]): [Element, Element];
    mulPointEscalar(base: [Element, Element], scalar: bigint): [Element, Element];
    packPoint(point: [Element, Element]): Uint8Array;
    unpackPoint(bytes: Uint8Array): [Element, Element] | null;
    inSubgroup(point: [Element, Element]): boolean;
    inCurve(point: [Element, Element]): boolean;
  }
  export function buildPoseidonReference(): Promise<PoseidonReference>;
  export function buildBabyjub(): Promise<BabyjubReference>;
}
