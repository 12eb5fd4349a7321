/**
 * Checks two witnesses against an .r1cs file. It shares no code with the search, and reads the file itself. Its caller says which
 * wires are given, and which must differ: apart from that, a verdict "refuted" rests on this file.
 */

const number = (bytes: Uint8Array): bigint =>
  BigInt(
    `0x${
      [...bytes]
        .reverse()
        .map((byte) => byte.toString(16).padStart(2, "0"))
        .join("") || "0"
    }`,
  );

/** Why a witness does not satisfy the constraints of an .r1cs file (iden3's binary format); undefined if it does. */
export function checkWitness(file: Uint8Array, witness: readonly bigint[]): string | undefined {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const word = (at: number) => view.getUint32(at, true);
  let [header, body] = [-1, -1];
  for (let section = 0, at = 12; section < word(8); section++) {
    if (word(at) === 1) header = at + 12;
    if (word(at) === 2) body = at + 12;
    if (word(at) > 3 && word(at + 4) > 8) return "the file has custom gates";
    at += 12 + Number(view.getBigUint64(at + 4, true));
  }
  if (header < 0 || body < 0) return "the file has no header or no constraints";
  const size = word(header);
  const prime = number(file.subarray(header + 4, header + 4 + size));
  const wires = word(header + 4 + size);
  const constraints = word(header + 28 + size);
  if (witness.length !== wires) return `the witness has ${witness.length} values, expected ${wires}`;
  if (witness[0] !== 1n) return "wire 0 is not 1";
  const outside = witness.findIndex((value) => value < 0n || value >= prime);
  if (outside >= 0) return `the value of wire ${outside} is not a number of the field`;
  let at = body;
  const sum = (): bigint => {
    let total = 0n;
    const end = at + 4 + word(at) * (4 + size);
    for (at += 4; at < end; at += 4 + size)
      total += number(file.subarray(at + 4, at + 4 + size)) * (witness[word(at)] as bigint);
    return total;
  };
  for (let constraint = 0; constraint < constraints; constraint++) {
    const [a, b, c] = [sum(), sum(), sum()];
    if ((a * b - c) % prime !== 0n) return `constraint ${constraint} is not satisfied`;
  }
  return undefined;
}

/**
 * Why two witnesses do not refute that the wires `given` determine the wires `targets`; undefined if they refute it.
 */
export function checkRefutation(
  file: Uint8Array,
  witnesses: readonly [readonly bigint[], readonly bigint[]],
  given: readonly number[],
  targets: readonly number[],
): string | undefined {
  for (const [index, witness] of witnesses.entries()) {
    const problem = checkWitness(file, witness);
    if (problem !== undefined) return `witness ${index + 1}: ${problem}`;
  }
  const differs = (wire: number) => witnesses[0][wire] !== witnesses[1][wire];
  const changed = given.find(differs);
  if (changed !== undefined) return `the witnesses differ in wire ${changed}, which is given`;
  return targets.some(differs) ? undefined : "the witnesses agree on every wire that should be determined";
}
