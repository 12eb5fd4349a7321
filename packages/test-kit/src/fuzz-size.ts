/**
 * Number of invalid inputs that a fuzz test sends: by default enough for every kind of change, far more with
 * SOTTO_LONG=1.
 */
export const fuzzSize = (usual: number, long: number): number => (process.env["SOTTO_LONG"] === "1" ? long : usual);
