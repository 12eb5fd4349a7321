import { SottoService, shieldedAddressOf } from "@sotto/client";
import {
  BINDING_SLOT_SECONDS,
  bindingTypedData,
  checkBindingSignature,
  checkBindingTime,
  parseAddress,
  type ShieldedAddressBinding,
  SottoError,
} from "@sotto/protocol";
import type { BaseWallet } from "ethers";
import { askLine, canAsk } from "../ask.ts";
import type { Command, Context } from "../frame/command.ts";
import { CliError, usage } from "../frame/errors.ts";
import { printable } from "../frame/output.ts";
import { ACCOUNT_OPTIONS, readAccount } from "../home/account.ts";
import { type Config, readConfig } from "../home/config.ts";
import { readSeed } from "../home/seed.ts";
import { serviceOf, withChain } from "../session.ts";

const REGISTRY = {
  registry: { value: "URL", help: "base address of the phone registry; default: the service" },
} as const;

/** E.164. A number is personal: no message repeats it. @throws CliError USAGE */
function expectPhone(value: string): string {
  if (!/^\+[1-9][0-9]{4,14}$/.test(value)) throw usage("PHONE must be a number in E.164, such as +14155550100");
  return value;
}

function registryOf({ args }: Context, config: Config): SottoService {
  const url = args.url("registry");
  return url === undefined ? serviceOf(config) : new SottoService(url);
}

async function sign(account: BaseWallet, binding: ShieldedAddressBinding): Promise<string> {
  const { domain, types, message } = bindingTypedData(binding);
  const fields = Object.fromEntries(Object.entries(types).map(([name, list]) => [name, [...list]]));
  return account.signTypedData(domain, fields, message);
}

/** The start of the current slot: who was not told it finds it by trying a few. */
const slotNow = (): number => Math.floor(Date.now() / 1000 / BINDING_SLOT_SECONDS) * BINDING_SLOT_SECONDS;

function bindingOf(context: Context, config: Config, account: BaseWallet, phone: string, service: string) {
  const { chainId, pool } = config;
  const wallet = parseAddress(account.address, "account");
  const key = shieldedAddressOf(readSeed(context.home, context.environment));
  return { phone, wallet, key, chainId, pool, service, issuedAt: slotNow() } satisfies ShieldedAddressBinding;
}

export const recipient: Command = {
  name: "recipient",
  summary: "Signs this wallet's address with your account, for the config of a shop.",
  positionals: [],
  options: ACCOUNT_OPTIONS,
  details: ["A 402 without the account's signature is not paid. The signature holds 400 days. Nothing is sent."],
  async run(context) {
    const { args, environment, home } = context;
    const config = readConfig(home);
    const account = await readAccount(args.text("keystore"), environment, config.chainId);
    const binding = bindingOf(context, config, account, "", "");
    const signature = await sign(account, binding);
    const { wallet, key: shieldedAddress, issuedAt } = binding;
    const json = { wallet, shieldedAddress, signature, issuedAt };
    return { json, text: [JSON.stringify(json, null, 2)] };
  },
};

export const link: Command = {
  name: "link",
  summary: "Links a phone number to this wallet: signs, asks for the code, proves the number.",
  positionals: ["PHONE"],
  options: {
    code: { value: "CODE", help: "the code that was sent: only proves the number, after a first call without" },
    ...REGISTRY,
    ...ACCOUNT_OPTIONS,
  },
  details: [
    "The account signs that this shielded address is paid under its wallet address and this number. Without a terminal",
    "the first call ends with exit code 5 where a code is still missing; the second one gives it with --code.",
  ],
  async run(context) {
    const { args, environment, home } = context;
    const config = readConfig(home);
    const phone = expectPhone(args.positional(0, "PHONE"));
    const given = args.text("code");
    if (given !== undefined && !/^[0-9]{4,10}$/.test(given)) throw usage("--code must be the digits that were sent");
    const account = await readAccount(args.text("keystore"), environment, config.chainId);
    const registry = registryOf(context, config);
    const { signal, output } = context;
    const wallet = parseAddress(account.address, "account");
    const verify = async (code: string) => {
      output.progress("proving the number");
      await registry.phoneVerify({ phoneNumber: phone, walletAddress: wallet, code }, { signal });
      return {
        json: { wallet, verified: true, remaining: [] as string[] },
        text: [`the number is linked to ${wallet}`],
      };
    };
    if (given !== undefined) return verify(given);
    output.progress("signing and linking");
    const place = await placeOf(registry, config, signal);
    const binding = bindingOf(context, config, account, phone, place);
    const answer = await registry.link(
      {
        phoneNumber: phone,
        walletAddress: wallet,
        encryptionPublicKey: binding.key,
        signature: await sign(account, binding),
        issuedAt: binding.issuedAt,
      },
      { signal },
    );
    const remaining = stepsOf(answer["remaining"]);
    if (remaining.length === 0)
      return { json: { wallet, verified: true, remaining }, text: [`the number is linked to ${wallet}`] };
    if (!canAsk(context))
      throw new CliError("PENDING", "a code was sent to the number: the same command with --code proves it");
    return verify(await askLine(context, "code that was sent to the number: ", "--code gives it"));
  },
};

/** What stays to be done, as the registry names it. */
function stepsOf(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.map((step) => printable(String((Object(step) as { step?: unknown }).step ?? "")).slice(0, 32));
}

/** The base address that links are signed for: what the registry says, where it serves this very pool. */
async function placeOf(registry: SottoService, { chainId, pool }: Config, signal: AbortSignal): Promise<string> {
  const response = await fetch(`${registry.url}/phone`, { redirect: "error", signal });
  const { service, ...place } = Object(await response.json().catch(() => ({}))) as Record<string, unknown>;
  if (!response.ok || typeof service !== "string" || service.length > 256)
    throw new CliError("REFUSED", "there is no phone registry at this address");
  if (place["chainId"] !== String(chainId) || String(place["pool"]).toLowerCase() !== pool)
    throw new CliError("REFUSED", "the phone registry is one of another chain or pool");
  return service;
}

export const resolve: Command = {
  name: "resolve",
  summary: "Shows who has a phone number, after checking the wallet's signature.",
  positionals: ["PHONE"],
  options: REGISTRY,
  details: [
    "The registry cannot put another shielded address under a wallet: the wallet has signed it, for this number, chain and",
    "pool. That the wallet is whom you mean is only the registry's word: compare it.",
  ],
  async run(context) {
    const phone = expectPhone(context.args.positional(0, "PHONE"));
    return withChain(context, async (chain, config) => {
      const registry = registryOf(context, config);
      const { fields, verified } = await registry.resolve(phone, { signal: context.signal });
      const binding = readMapping(fields, phone, config);
      const held = await checkBindingSignature(binding, String(fields["signature"]), (call) => chain.call(call));
      if (!held) throw new CliError("REFUSED", "the wallet did not sign this address for this number");
      const { wallet, key: shieldedAddress, issuedAt } = binding;
      const json = { wallet, shieldedAddress, verified, issuedAt, signed: true };
      const proof = verified ? "proven" : "not proven";
      return { json, text: [`wallet ${wallet}`, `address ${shieldedAddress}`, `the number is ${proof}`] };
    });
  },
};

/** @throws CliError REFUSED where what the registry says is no binding of this number, chain and pool, or too old */
function readMapping(fields: Readonly<Record<string, unknown>>, phone: string, config: Config): ShieldedAddressBinding {
  const { wallet, encryptionPublicKey, service, issuedAt } = fields;
  const { chainId, pool } = config;
  try {
    const key = String(encryptionPublicKey);
    const place = { phone, chainId, pool, service: String(service), issuedAt: issuedAt as number };
    const binding = { ...place, wallet: parseAddress(wallet, "wallet"), key };
    bindingTypedData(binding);
    checkBindingTime(binding, Date.now());
    return binding;
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw new CliError("REFUSED", `the registry's answer is no binding: ${cause.message}`, {}, { cause });
  }
}
