/** How many wrong inputs a fuzz test sends: enough to meet every kind of change by default, far more in the long run. */
export const fuzzSize = (usual: number, long: number): number => (process.env["SOTTO_LONG"] === "1" ? long : usual);
