/** A word as hexadecimal, 64 digits with 0x. */
export const toBytes32 = (value: bigint): string => `0x${value.toString(16).padStart(64, "0")}`;
