// The addresses that a paywall is paid at: one lasting address, or one for each month.
import {
  type Address,
  AddressBook,
  addressesEnd,
  assertBinding,
  BASE8,
  checkBinding,
  checkMonthAddresses,
  type Deployment,
  decodeShieldedAddress,
  type EthCall,
  type Month,
  multiplyPoint,
  type Recipient,
  type ScheduleJson,
  type ShieldedAddressBinding,
  scheduleJson,
} from "@sotto/protocol";
import { asOption, invalidOption, PaywallError } from "../errors.ts";
import { assertFields } from "../option-values.ts";
import { HeldKeys } from "./month-keys.ts";
import type { MonthRecipient, PaywallOptions, PaywallRecipient } from "./options.ts";
import type { PaidAddress } from "./paid-address.ts";

/** A paid address with what the checks of a payment need. */
export interface CheckedAddress extends PaidAddress {
  readonly recipient: Recipient;
}

/** The addresses of one recipient. */
export interface Recipients {
  readonly wallet: Address;
  /** Every address that a 402 may ask for, now or later. */
  readonly addresses: readonly PaidAddress[];
  /** Undefined for a lasting address. */
  readonly months: Months | undefined;
  /** The address that a 402 asks for. @param ms now @throws PaywallError ADDRESS_MONTH_MISSING */
  addressAt(ms: number): PaidAddress;
  /** The addresses at which a payment counts; none if it names a time outside of all months. @param ms its timestamp */
  acceptedAt(ms: number): readonly CheckedAddress[];
  /**
   * Decrypts payments to the address; undefined if nobody gave the key to this server.
   * @param onError gets the PaywallError INVALID_OPTION if the option has new keys that are wrong
   */
  viewingKeyOf(address: PaidAddress, onError: (error: unknown) => void): bigint | undefined;
  /**
   * Checks the signatures as every client does. @param now ms
   * @throws PaywallError RECIPIENT_NOT_SIGNED; SottoError BINDING_UNCHECKED
   */
  assertSigned(call: EthCall, now: number): Promise<void>;
}

/** The schedule that a paywall publishes. */
export interface Months {
  readonly schedule: ScheduleJson;
  readonly lastMonth: Month;
  /** When the last address ends, ms. */
  readonly end: number;
}

const recipientOf = ({ wallet, key }: ShieldedAddressBinding): Recipient => {
  const { encryptionKey, ownerTag } = decodeShieldedAddress(key);
  return { wallet, keyX: encryptionKey.x, ownerTag };
};

const notSigned = (what: string, problem: string): PaywallError =>
  new PaywallError("RECIPIENT_NOT_SIGNED", `${what} is not usable: ${problem}`);

/** Swallows errors, because their messages could contain the key. */
function isViewingKeyOf(viewingKey: unknown, keyX: bigint): boolean {
  try {
    return multiplyPoint(BASE8, viewingKey as bigint).x === keyX;
  } catch {
    return false;
  }
}

class LastingRecipient implements Recipients {
  readonly wallet: Address;
  readonly addresses: readonly [CheckedAddress];
  readonly months = undefined;
  readonly #viewingKey: bigint | undefined;

  constructor(options: PaywallRecipient, { chainId, pool }: Deployment) {
    const { wallet, shieldedAddress, signature, issuedAt, service = "", phone = "", viewingKey } = options;
    const fields = { phone, wallet, key: shieldedAddress, chainId, pool, service, issuedAt } as ShieldedAddressBinding;
    const binding = asOption("recipient", () => assertBinding(fields));
    const recipient = recipientOf(binding);
    if (viewingKey !== undefined && !isViewingKeyOf(viewingKey, recipient.keyX))
      throw invalidOption("recipient.viewingKey does not belong to recipient.shieldedAddress");
    this.wallet = binding.wallet;
    this.addresses = [{ binding, signature, schedule: undefined, recipient }];
    this.#viewingKey = viewingKey;
  }

  addressAt(): PaidAddress {
    return this.addresses[0];
  }

  acceptedAt(): readonly CheckedAddress[] {
    return this.addresses;
  }

  viewingKeyOf(): bigint | undefined {
    return this.#viewingKey;
  }

  async assertSigned(call: EthCall, now: number): Promise<void> {
    const { binding, signature } = this.addresses[0];
    const problem = await checkBinding(binding, signature, call, now);
    if (problem !== undefined) throw notSigned("recipient.signature", problem);
  }
}

class MonthRecipients implements Recipients {
  readonly wallet: Address;
  readonly addresses: readonly PaidAddress[];
  readonly months: Months;
  readonly #book: AddressBook;
  readonly #keys: HeldKeys;
  /** The address of before, whose key this server does not have. */
  readonly #lasting: readonly CheckedAddress[];
  /** By the shielded address, because decoding one takes a millisecond. */
  readonly #recipients = new Map<string, Recipient>();

  constructor(options: MonthRecipient, deployment: Deployment) {
    assertFields(options, "recipient", ["addresses", "viewingKeys", "lasting"]);
    this.#book = asOption("recipient.addresses", () => new AddressBook(options.addresses));
    const { schedule, signature, bindings } = this.#book.newest;
    if (schedule.chainId !== deployment.chainId || schedule.pool !== deployment.pool)
      throw invalidOption(
        `recipient.addresses are for the pool ${schedule.pool} on chain ${schedule.chainId}, but chain names the pool ` +
          `${deployment.pool} on chain ${deployment.chainId}`,
      );
    this.#keys = new HeldKeys(options.viewingKeys, schedule);
    this.wallet = this.#book.wallet;
    this.#lasting = this.#lastingOf(options, deployment);
    this.addresses = this.#book.listed;
    this.months = {
      schedule: scheduleJson({ schedule, signature }),
      lastMonth: bindings.at(-1)!.month,
      end: addressesEnd(schedule),
    };
  }

  #lastingOf({ lasting }: MonthRecipient, deployment: Deployment): readonly CheckedAddress[] {
    if (lasting === undefined) return [];
    if (Object(lasting).viewingKey !== undefined)
      throw invalidOption("recipient.lasting has a viewing key, which reads every payment forever; remove it");
    const { wallet, addresses } = new LastingRecipient(lasting, deployment);
    if (wallet !== this.wallet)
      throw invalidOption("recipient.lasting and recipient.addresses have different wallets; payments name one");
    return addresses;
  }

  addressAt(ms: number): PaidAddress {
    const address = this.#book.at(ms);
    if (address !== undefined) return address;
    throw new PaywallError("ADDRESS_MONTH_MISSING", this.#book.missingAt(ms));
  }

  acceptedAt(ms: number): readonly CheckedAddress[] {
    const ofMonths = this.#book.acceptedAt(ms).map((one) => ({ ...one, recipient: this.#recipientOf(one.binding) }));
    return [...ofMonths, ...this.#lasting];
  }

  viewingKeyOf({ binding }: PaidAddress, onError: (error: unknown) => void): bigint | undefined {
    return this.#keys.keyOf(binding.key, onError);
  }

  #recipientOf(binding: ShieldedAddressBinding): Recipient {
    const known = this.#recipients.get(binding.key) ?? recipientOf(binding);
    this.#recipients.set(binding.key, known);
    return known;
  }

  async assertSigned(call: EthCall, now: number): Promise<void> {
    const problem = await checkMonthAddresses(this.#book.newest, call, now);
    if (problem !== undefined) throw notSigned("recipient.addresses", problem);
  }
}

/** Parses the option `recipient`. @throws PaywallError INVALID_OPTION */
export function parseRecipients({ recipient }: Pick<PaywallOptions, "recipient">, deployment: Deployment): Recipients {
  const given = Object(recipient) as PaywallRecipient | MonthRecipient;
  if ("addresses" in given) return new MonthRecipients(given, deployment);
  return new LastingRecipient(given, deployment);
}
