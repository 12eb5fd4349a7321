import {
  type Address,
  AddressBook,
  assertBinding,
  checkBinding,
  checkMonthAddresses,
  type Deployment,
  type EthCall,
  type ListedAddress,
  type MonthAddresses,
  type ScheduleJson,
  SottoError,
  scheduleJson,
} from "@sotto/protocol";
import type { X402Extra, X402Recipient } from "@sotto/protocol/x402";
import { X402SchemeError } from "../errors.ts";

/** The recipient with an address of each month. */
export interface SottoMonthRecipient {
  /**
   * What `signAddresses` of @sotto/client and `sotto address schedule` return, parsed by `parseMonthAddresses`. Of several, the
   * server asks for payments to those with the highest sequence number, and accepts what was paid to the others.
   */
  readonly addresses: MonthAddresses | readonly MonthAddresses[];
}

/** The recipient: its wallet, its lasting address, and the wallet's signature over both (`bindingTypedData`). */
export interface SottoRecipient {
  /** Address of the account that signed, 20 bytes as hex with 0x. */
  readonly wallet: string;
  /** 64 bytes as hex with 0x. */
  readonly shieldedAddress: string;
  /** The wallet's EIP-712 signature over its shielded address, hex with 0x; at most 400 days old. */
  readonly signature: string;
  /** When the wallet signed, Unix seconds, a multiple of 300. */
  readonly issuedAt: number;
  /** Base URL of the phone registry that the binding names. Default: none. */
  readonly service?: string;
  /** E.164. Default: none. */
  readonly phone?: string;
}

/** The fields of `extra` that name the paid address. */
export type RecipientExtra = { readonly recipient: Partial<X402Recipient> } & Pick<X402Extra, "schedule">;

/** The addresses at which a server is paid. */
export interface Recipients {
  readonly wallet: Address;
  /** The JSON of the schedule; undefined for a lasting address. */
  readonly schedule: ScheduleJson | undefined;
  /** The address to ask for. @param ms now @throws X402SchemeError ADDRESS_MONTH_MISSING */
  extraAt(ms: number): RecipientExtra;
  /** The addresses at which a payment of this time counts, ms. */
  acceptedAt(ms: number): readonly RecipientExtra[];
  /** @returns why a signature is not valid @throws SottoError BINDING_UNCHECKED */
  check(call: EthCall, now: number): Promise<string | undefined>;
}

/** Clients refuse longer signatures. */
const SIGNATURE = /^0x(?:[0-9a-fA-F]{2}){1,2048}$/;

const invalid = (message: string, cause?: unknown): X402SchemeError =>
  new X402SchemeError("X402_OPTION_INVALID", message, {}, { cause });

function asOption<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw invalid(`${name}: ${cause.message}`, cause);
  }
}

function extraOf({
  binding,
  signature,
  schedule,
}: Pick<ListedAddress, "binding" | "signature"> & Pick<X402Extra, "schedule">): RecipientExtra {
  const { key: shieldedAddress, issuedAt, service, phone } = binding;
  if (typeof signature !== "string" || !SIGNATURE.test(signature))
    throw invalid("recipient.signature must be the wallet's signature, 1 to 2,048 bytes as hex with 0x");
  return {
    recipient: {
      ...{ shieldedAddress, signature: signature.toLowerCase(), issuedAt },
      ...(service === "" ? {} : { service }),
      ...(phone === "" ? {} : { phone }),
    },
    ...(schedule === undefined ? {} : { schedule }),
  };
}

function lasting(options: SottoRecipient, { chainId, pool }: Deployment): Recipients {
  const {
    wallet,
    shieldedAddress: key,
    signature,
    issuedAt,
    service = "",
    phone = "",
  } = Object(options) as SottoRecipient;
  const binding = asOption("recipient", () => assertBinding({ phone, wallet, key, chainId, pool, service, issuedAt }));
  const extra = extraOf({ binding, signature });
  return {
    wallet: binding.wallet,
    schedule: undefined,
    extraAt: () => extra,
    acceptedAt: () => [extra],
    check: (call, now) => checkBinding(binding, signature, call, now),
  };
}

function ofMonths({ addresses }: SottoMonthRecipient, { chainId, pool }: Deployment): Recipients {
  const book = asOption("recipient.addresses", () => new AddressBook(addresses));
  const { schedule, signature } = book.newest;
  if (schedule.chainId !== chainId || schedule.pool !== pool)
    throw invalid(
      `recipient.addresses are for the pool ${schedule.pool} on chain ${schedule.chainId}, expected ${pool} on ${chainId}`,
    );
  // Made at the start, which refuses signatures that are too long.
  const extras = new Map(book.all.map((one) => [one, extraOf(one)]));
  return {
    wallet: book.wallet,
    schedule: scheduleJson({ schedule, signature }),
    extraAt(ms) {
      const address = book.at(ms);
      if (address !== undefined) return extras.get(address)!;
      throw new X402SchemeError("ADDRESS_MONTH_MISSING", book.missingAt(ms));
    },
    acceptedAt: (ms) => book.acceptedAt(ms).map((one) => extras.get(one)!),
    check: (call, now) => checkMonthAddresses(book.newest, call, now),
  };
}

/** @param deployment with the pool in lower case @throws X402SchemeError X402_OPTION_INVALID */
export function parseRecipients(recipient: SottoMonthRecipient | SottoRecipient, deployment: Deployment): Recipients {
  return "addresses" in Object(recipient)
    ? ofMonths(recipient as SottoMonthRecipient, deployment)
    : lasting(recipient as SottoRecipient, deployment);
}
