import { lookUpPhone, phoneNumberOf, SottoService, shieldedAddressOf, signBinding, signPhoneLink } from "@sotto/client";
import { askLine, canAsk } from "../ask.ts";
import type { Command, Context } from "../command.ts";
import { CliError, usage } from "../frame/errors.ts";
import { printable } from "../frame/output.ts";
import { ACCOUNT_OPTIONS, readAccount } from "../home/account.ts";
import { type Config, readConfig } from "../home/config.ts";
import { readSeed } from "../home/seed.ts";
import { serviceOf, withWallet } from "../session.ts";

export const REGISTRY = {
  registry: { value: "URL", help: "base address of the phone registry; default: the service" },
} as const;

export function registryOf({ args }: Context, config: Config): SottoService {
  const url = args.url("registry");
  return url === undefined ? serviceOf(config) : new SottoService(url, { chainId: config.chainId });
}

/** What a binding is signed about: no chain and no store are needed for it. */
function signedWallet({ home, environment }: Context, { chainId, pool, token, deploymentBlock }: Config) {
  return {
    pool: { chainId, pool, token, deploymentBlock, smallestDeposit: 0n },
    shieldedAddress: shieldedAddressOf(readSeed(home, environment), { chainId, pool }),
    now: () => Date.now(),
  };
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
    const { binding, signature } = await signBinding(signedWallet(context, config), account);
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
    const { args, environment, home, output, signal } = context;
    const config = readConfig(home);
    const phone = phoneNumberOf(args.positional(0, "PHONE"));
    const given = args.text("code");
    if (given !== undefined && !/^[0-9]{4,10}$/.test(given)) throw usage("--code must be the digits that were sent");
    const account = await readAccount(args.text("keystore"), environment, config.chainId);
    const registry = registryOf(context, config);
    const wallet = account.address.toLowerCase();
    const linked = { json: { wallet, verified: true }, text: [`the number is linked to ${wallet}`] };
    if (given === undefined) {
      output.progress("signing and linking");
      const place = { phone, service: registry.url };
      const body = await signPhoneLink(signedWallet(context, config), account, place);
      const steps = stepsOf((await registry.link({ ...body }, { signal }))["remaining"]);
      if (steps.length === 0) return linked;
      if (!steps.includes("enter-code"))
        throw new CliError("PENDING", `the registry waits for ${steps.join(", ")}: the same command again`);
      if (!canAsk(context))
        throw new CliError("PENDING", "a code was sent to the number: the same command with --code proves it");
    }
    const code = given ?? (await askLine(context, "code that was sent to the number: ", "--code gives it"));
    output.progress("proving the number");
    await registry.phoneVerify({ phoneNumber: phone, walletAddress: wallet, code }, { signal });
    return linked;
  },
};

/** What stays to be done, as the registry names it. */
function stepsOf(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.map((step) => printable(String((Object(step) as { step?: unknown }).step ?? "")).slice(0, 32));
}

export const resolve: Command = {
  name: "resolve",
  summary: "Shows who has a phone number, after checking the wallet's signature.",
  positionals: ["PHONE"],
  options: REGISTRY,
  details: [
    "The registry cannot put another shielded address under a wallet: the wallet has signed it, for this number, chain,",
    "pool and registry. That the wallet is whom you mean is the registry's word: compare it. standing is new, known (as",
    "it was paid before) or changed. Nothing is trusted by looking: the first payment does that.",
  ],
  async run(context) {
    const phone = phoneNumberOf(context.args.positional(0, "PHONE"));
    return withWallet(context, false, async ({ wallet, config }) => {
      const found = await lookUpPhone(wallet, registryOf(context, config), phone, { signal: context.signal });
      const { wallet: address, shieldedAddress, issuedAt, standing } = found;
      return {
        json: { wallet: address, shieldedAddress, issuedAt, standing },
        text: [`wallet ${address}`, `address ${shieldedAddress}`, `standing ${standing}`],
      };
    });
  },
};
