import { normalizeSignature } from "../binding/signature.ts";
import { recode } from "../errors.ts";
import { fieldsOf, parseConstant } from "../object-fields.ts";
import { parseChainId } from "../payment/claims.ts";
import { assertObject, parseField } from "../validate.ts";
import { type AddressSchedule, assertSchedule } from "./schedule.ts";

const CODE = "SCHEDULE_INVALID";
const TYPE = "sotto-address-schedule";
const VERSION = 1;

/** Maximum length of a schedule's JSON, characters: 13 keys, and the longest signature. */
export const MAX_SCHEDULE_LENGTH = 20_000;

/** A schedule with its wallet's signature. */
export interface SignedSchedule {
  /** What the wallet signed. */
  readonly schedule: AddressSchedule;
  /** 1 to 8,192 bytes, hex with 0x. */
  readonly signature: string;
}

/** The JSON of a signed schedule, which a server publishes: numbers of more than 53 bits are decimal strings. */
export interface ScheduleJson extends Omit<AddressSchedule, "chainId" | "ownerTag"> {
  /** Constant of the format. */
  readonly type: typeof TYPE;
  /** Constant of the format. */
  readonly version: typeof VERSION;
  /** EIP-155 id, decimal. */
  readonly chainId: string;
  /** tag_0, decimal. */
  readonly ownerTag: string;
  /** The wallet's signature, hex with 0x. */
  readonly signature: string;
}

/** The JSON of a signed schedule, as `parseSchedule` reads it. @throws SottoError SCHEDULE_INVALID */
export function scheduleJson(signed: SignedSchedule): ScheduleJson {
  return recode(CODE, "not a schedule of addresses", () => {
    assertObject(signed, "a signed schedule");
    const { schedule, signature } = signed;
    const { chainId, ownerTag, ...rest } = assertSchedule(schedule);
    const texts = { chainId: String(chainId), ownerTag: String(ownerTag) };
    return { type: TYPE, version: VERSION, ...rest, ...texts, signature: normalizeSignature(signature) };
  });
}

/**
 * Parses the JSON of a signed schedule strictly; unknown fields are ignored. Does not check the signature.
 * @param json the parsed JSON; limit its text to MAX_SCHEDULE_LENGTH before parsing it
 * @throws SottoError SCHEDULE_INVALID; the message names the field
 */
export function parseSchedule(json: unknown): SignedSchedule {
  const field = fieldsOf(json, "a schedule of addresses", CODE);
  return recode(CODE, "not a schedule of addresses", () => {
    parseConstant(field("type"), TYPE, "type");
    parseConstant(field("version"), VERSION, "version");
    const schedule = assertSchedule({
      wallet: field("wallet"),
      chainId: parseChainId(field("chainId")),
      pool: field("pool"),
      ownerTag: parseField(field("ownerTag"), "ownerTag"),
      sequence: field("sequence"),
      issuedAt: field("issuedAt"),
      firstMonth: field("firstMonth"),
      keys: field("keys"),
    });
    return { schedule, signature: normalizeSignature(field("signature")) };
  });
}
