// Creation code that nodes run in eth_call: each probe returns what it found out about the chain, and creates nothing.

/** Returns the word on the stack. It uses no PUSH0, so that other probes run on chains without that opcode. */
const RETURN_WORD = "60005260206000f3";

/** CHAINID */
export const CHAIN_ID_PROBE = `0x46${RETURN_WORD}`;
/** TIMESTAMP */
export const TIME_PROBE = `0x42${RETURN_WORD}`;
/** GAS */
export const GAS_PROBE = `0x5a${RETURN_WORD}`;

/** What probes return if they work. */
export const PROBE_RESULT = 7n;
/** Returns PROBE_RESULT, with opcodes that every EVM has. */
export const CODE_PROBE = `0x6007${RETURN_WORD}`;
/** Returns the gas of the first write to a word of storage: GAS; SSTORE(0, 1); GAS */
export const STORAGE_PROBE = `0x5a60016000555a9003${RETURN_WORD}`;
/**
 * The opcodes that solc uses for `evmVersion` in hardhat.config.ts and that London did not have, except those of blobs, which
 * no contract here reads.
 */
export const OPCODE_PROBES: Readonly<Record<string, string>> = {
  // 7 + PUSH0
  PUSH0: `0x60075f01${RETURN_WORD}`,
  // Copies the word 7 from memory 0 to 0x20, and returns the copy.
  MCOPY: "0x60076000526020600060205e60206020f3",
  // Stores 7 in transient storage, and loads it.
  "TSTORE, TLOAD": `0x600760015d60015c${RETURN_WORD}`,
};

const hex = (value: number, bytes: number): string => value.toString(16).padStart(2 * bytes, "0");

/**
 * Creation code of `size` bytes that returns `created` zero bytes: a contract that only a chain whose limits permit both can
 * create.
 */
export function sizeProbe(size: number, created: number): string {
  return `0x61${hex(created, 2)}6000f3`.padEnd(2 + 2 * size, "0");
}

/**
 * Creation code that calls a precompile with `input`.
 * @returns three words: the result, 1 if the call succeeded, and the gas that it cost
 */
export function precompileProbe(precompile: number, input: string): string {
  const length = input.length / 2;
  const [size, success, cost] = [length, length + 0x20, length + 0x40].map((offset) => `61${hex(offset, 2)}`);
  const body = [
    // GAS; STATICCALL(GAS, precompile, 0, length, length, 0x20); GAS
    `5a6020${size}${size}600060${hex(precompile, 1)}5afa5a`,
    // The stack is the gas before, the success and the gas after it: store the success, then the difference.
    `90${success}529003${cost}52`,
    `6060${size}f3`,
  ].join("");
  // CODECOPY(0, offset of the input, length)
  const copied = (offset: number) => `${size}61${hex(offset, 2)}600039`;
  const offset = (copied(0).length + body.length) / 2;
  return `0x${copied(offset)}${body}${input}`;
}
