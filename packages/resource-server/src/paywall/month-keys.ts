// The viewing keys of months that a paywall holds: of this month and the previous one, so that a thief of the server reads two
// months.
import {
  type AddressSchedule,
  addMonths,
  addressInSchedule,
  assertViewingKeys,
  type ViewingKeys,
} from "@sotto/protocol";
import { asOption, invalidOption } from "../errors.ts";
import type { MonthRecipient } from "./options.ts";

const MAX_KEYS = 2;
const NAME = "recipient.viewingKeys";

/** The viewing keys as they are at the moment. */
export class HeldKeys {
  readonly #option: MonthRecipient["viewingKeys"];
  readonly #schedule: AddressSchedule;
  /** What the option gave last: checking keys takes a multiplication each. */
  #given: ViewingKeys | undefined;
  #held: ViewingKeys | undefined;

  /** @throws PaywallError INVALID_OPTION */
  constructor(option: MonthRecipient["viewingKeys"], schedule: AddressSchedule) {
    this.#option = option;
    this.#schedule = schedule;
    this.#read();
  }

  /**
   * The key of an address; undefined if nobody gave it to this server. New keys that are wrong go to `onError`, once; the keys
   * of before stay.
   */
  keyOf(shieldedAddress: string, onError: (error: unknown) => void): bigint | undefined {
    try {
      this.#read();
    } catch (error) {
      onError(error);
    }
    return this.#held?.keys.find((key) => key.shieldedAddress === shieldedAddress)?.viewingKey;
  }

  #read(): void {
    const given = typeof this.#option === "function" ? this.#call(this.#option) : this.#option;
    if (given === this.#given) return;
    this.#given = given;
    this.#held = given === undefined ? undefined : this.#check(given);
  }

  #check(given: ViewingKeys): ViewingKeys {
    const held = asOption(NAME, () => assertViewingKeys(given));
    assertFew(held);
    assertOwn(held, this.#schedule);
    return held;
  }

  #call(option: () => ViewingKeys | undefined): ViewingKeys | undefined {
    try {
      return option();
    } catch (error) {
      // The error could contain a key, and so could its message: logs get its code only.
      const { code } = Object(error) as { code?: unknown };
      throw invalidOption(`${NAME} is a function that failed${isErrorCode(code) ? ` with ${code}` : ""}`);
    }
  }
}

const isErrorCode = (code: unknown): code is string => typeof code === "string" && /^[A-Z_]{1,64}$/.test(code);

/** Whoever steals this server reads what its keys open. */
function assertFew({ keys }: ViewingKeys): void {
  const advice = "write those of this month and the previous one with `sotto view-key`";
  if (keys.some(({ changeKey }) => changeKey !== undefined))
    throw invalidOption(`${NAME} has change keys, which are for auditors; ${advice}`);
  const [first, second] = keys.map(({ month }) => month);
  if (keys.some(({ month }) => month === undefined))
    throw invalidOption(
      `${NAME} has the key of the lasting address, which reads every payment to it forever; ${advice}`,
    );
  if (keys.length > MAX_KEYS)
    throw invalidOption(`${NAME} has keys of ${keys.length} months, but a server takes at most ${MAX_KEYS}; ${advice}`);
  if (second !== undefined && addMonths(first!, 1) !== second)
    throw invalidOption(`${NAME} are of ${first} and ${second}, which do not follow each other; ${advice}`);
}

/** Keys of another wallet or pool would read nothing, without an error. */
function assertOwn({ ownerTag, keys }: ViewingKeys, schedule: AddressSchedule): void {
  const differs = keys.find(({ month, shieldedAddress }) => {
    const listed = addressInSchedule(schedule, month!);
    return listed !== undefined && listed !== shieldedAddress;
  });
  if (ownerTag !== schedule.ownerTag || differs !== undefined)
    throw invalidOption(`${NAME} belong to another wallet or pool than recipient.addresses`);
}
