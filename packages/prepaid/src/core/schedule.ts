import { sha256 } from "@noble/hashes/sha2.js";
import { type Bytes32, bytesToHex, hexToBytes, parseAmount } from "@sotto/protocol";
import {
  assertObject,
  assertText,
  concatBytes,
  fail,
  recode,
  type StructFields,
  structDigest,
  type TypedData,
  typedDataOf,
  typedDataRequest,
} from "@sotto/protocol/extend";
import { laterEpoch } from "./epoch.ts";
import { encodePrepaidKey, PREPAID_SPKI_BYTES, type PrepaidKey, parsePrepaidKey } from "./key.ts";
import {
  decodeMerchant,
  encodeMerchant,
  MERCHANT_FIELDS,
  merchantOf,
  type PrepaidMerchant,
  type WirePrepaidMerchant,
} from "./merchant.ts";
import { assertPrepaidValue, MAX_PREPAID_VALUES } from "./values.ts";

/** Maximum number of epochs in one schedule. */
export const MAX_PREPAID_EPOCHS = 12;

/** A merchant's keys for several values and consecutive epochs. The merchant's wallet signs all of them at once. */
export interface PrepaidSchedule extends PrepaidMerchant {
  /** The first epoch, such as "2026-11". */
  readonly firstEpoch: string;
  /** At most 12 values in base units, ascending, each on the grid (`isPrepaidValue`). */
  readonly values: readonly bigint[];
  /** The keys of each epoch (1 to 12), one for each value. */
  readonly keys: readonly (readonly PrepaidKey[])[];
}

const NAME = "PrepaidSchedule";
const FIELDS: StructFields = [
  ...MERCHANT_FIELDS,
  { name: "firstEpoch", type: "string" },
  { name: "epochs", type: "uint64" },
  { name: "values", type: "string" },
  { name: "keys", type: "bytes" },
];

function parseValues(values: unknown): readonly bigint[] {
  if (!Array.isArray(values) || values.length === 0 || values.length > MAX_PREPAID_VALUES)
    fail("INVALID_ARGUMENT", `a schedule must have 1 to ${MAX_PREPAID_VALUES} values`);
  const parsed = values.map(assertPrepaidValue);
  if (parsed.some((value, i) => i > 0 && value <= parsed[i - 1]!))
    fail("INVALID_ARGUMENT", "the values of a schedule must ascend");
  return parsed;
}

function assertKeys(keys: PrepaidSchedule["keys"], values: number): void {
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > MAX_PREPAID_EPOCHS)
    fail("INVALID_ARGUMENT", `a schedule must have 1 to ${MAX_PREPAID_EPOCHS} epochs`);
  if (keys.some((row) => !Array.isArray(row) || row.length !== values))
    fail("INVALID_ARGUMENT", "a schedule must have a key for each value in each epoch");
  const ids = keys.flat().map((key: PrepaidKey) => key.id);
  // If two values shared a key, a token of the lower value would also be valid for the higher one.
  if (new Set(ids).size !== ids.length) fail("INVALID_ARGUMENT", "a schedule must not use a key twice");
}

/** The message that a wallet signs: readable fields, and the SHA-256 of all key ids in order. */
function structOf(schedule: PrepaidSchedule) {
  return recode("INVALID_ARGUMENT", "not a schedule", () => {
    assertObject(schedule, "a schedule");
    const { firstEpoch, keys } = schedule;
    const values = parseValues(schedule.values);
    assertKeys(keys, values.length);
    laterEpoch(firstEpoch, keys.length - 1);
    const ids = keys.flat().map(({ id }) => hexToBytes(id, 32, "id"));
    return {
      ...merchantOf(schedule),
      firstEpoch,
      epochs: keys.length,
      values: values.join(", "),
      keys: bytesToHex(sha256(concatBytes(...ids))),
    };
  });
}

/** The EIP-712 typed data of a schedule, for any wallet. @throws SottoError INVALID_ARGUMENT */
export const scheduleTypedData = (schedule: PrepaidSchedule): TypedData =>
  typedDataOf(NAME, FIELDS, structOf(schedule));

/**
 * The second parameter of `eth_signTypedData_v4`: JSON with the domain's type.
 * @throws SottoError INVALID_ARGUMENT
 */
export const scheduleRequest = (schedule: PrepaidSchedule): string => typedDataRequest(scheduleTypedData(schedule));

/** The EIP-712 digest of a schedule. @throws SottoError INVALID_ARGUMENT */
export const scheduleDigest = (schedule: PrepaidSchedule): Bytes32 => structDigest(NAME, FIELDS, structOf(schedule));

/** The wire form of a schedule: JSON. */
export interface WireSchedule extends WirePrepaidMerchant {
  /** The first epoch, such as "2026-11". */
  readonly firstEpoch: string;
  /** 1 to 12 values in base units, decimal, ascending. */
  readonly values: readonly string[];
  /** For each epoch, the key of each value: DER of RFC 9578, 342 bytes as hex with 0x. */
  readonly keys: readonly (readonly string[])[];
}

/** A schedule for JSON. @throws SottoError INVALID_ARGUMENT */
export function encodeSchedule(schedule: PrepaidSchedule): WireSchedule {
  const { firstEpoch } = structOf(schedule);
  return {
    ...encodeMerchant(schedule),
    firstEpoch,
    values: schedule.values.map(String),
    keys: schedule.keys.map((row) => row.map(({ modulus }) => bytesToHex(encodePrepaidKey(modulus)))),
  };
}

function parseKeys(keys: unknown): PrepaidSchedule["keys"] {
  // Refuses long lists before it parses a key, which takes time.
  if (!Array.isArray(keys) || keys.length > MAX_PREPAID_EPOCHS)
    fail("INVALID_ARGUMENT", `a schedule must have 1 to ${MAX_PREPAID_EPOCHS} epochs`);
  return keys.map((row) => {
    if (!Array.isArray(row) || row.length > MAX_PREPAID_VALUES)
      fail("INVALID_ARGUMENT", `an epoch must have 1 to ${MAX_PREPAID_VALUES} keys`);
    return row.map((spki, i) => parsePrepaidKey(hexToBytes(spki, PREPAID_SPKI_BYTES, `key ${i + 1}`)));
  });
}

/**
 * Inverse of `encodeSchedule`, for a schedule from another party. Does not check the wallet's signature.
 * @throws SottoError INVALID_ARGUMENT
 */
export function decodeSchedule(wire: unknown): PrepaidSchedule {
  return recode("INVALID_ARGUMENT", "not a schedule", () => {
    assertObject(wire, "a schedule");
    const field = wire as Record<keyof WireSchedule, unknown>;
    const { firstEpoch, values, keys } = field;
    if (!Array.isArray(values) || values.length > MAX_PREPAID_VALUES)
      fail("INVALID_ARGUMENT", `a schedule must have 1 to ${MAX_PREPAID_VALUES} values`);
    const schedule = {
      ...decodeMerchant(field),
      firstEpoch: assertText(firstEpoch, "firstEpoch"),
      values: values.map((value, i) => parseAmount(value, `value ${i + 1}`)),
      keys: parseKeys(keys),
    };
    structOf(schedule);
    return schedule;
  });
}

/** A key of a schedule with its value and epoch. */
export interface ScheduledKey {
  /** Base units: 1, 2 or 5 times a power of ten. */
  readonly value: bigint;
  /** The UTC month in which the key signs, such as "2026-11". */
  readonly epoch: string;
  /** The public key for this value and epoch. */
  readonly key: PrepaidKey;
}

/** The keys of a schedule, by epoch, then by value. */
export const scheduledKeys = ({ firstEpoch, values, keys }: PrepaidSchedule): readonly ScheduledKey[] =>
  keys.flatMap((row, i) => {
    const epoch = laterEpoch(firstEpoch, i);
    return row.map((key, j) => ({ value: values[j]!, epoch, key }));
  });
