import { lookUpPhone, phoneNumberOf, signBinding, signPhoneLink } from "@sotto/client";
import { SottoService, shieldedAddressOf } from "@sotto/wallet";
import { askLine, canAsk } from "../ask.ts";
import type { Command, Context } from "../command.ts";
import { CliError, usage } from "../frame/errors.ts";
import { printable } from "../frame/output.ts";
import { ACCOUNT_OPTIONS, readAccount } from "../home/account.ts";
import { type Config, readConfig } from "../home/config.ts";
import { readSeed } from "../home/seed.ts";
import { serviceOf, withWallet } from "../session.ts";

export const REGISTRY = {
  registry: { value: "URL", help: "base URL of the phone registry; default: the service" },
} as const;

export function registryOf({ args }: Context, config: Config): SottoService {
  const url = args.url("registry");
  return url === undefined ? serviceOf(config) : new SottoService(url, { chainId: config.chainId });
}

/** The part of the wallet that a binding covers. Needs neither the chain nor the store. */
function signedWallet({ home, environment, now }: Context, { chainId, pool, token, deploymentBlock }: Config) {
  return {
    pool: { chainId, pool, token, deploymentBlock, smallestDeposit: 0n },
    shieldedAddress: shieldedAddressOf(readSeed(home, environment), { chainId, pool }),
    now,
  };
}

export const recipient: Command = {
  name: "recipient",
  summary: "Signs this wallet's lasting address, for a resource server's config.",
  positionals: [],
  options: ACCOUNT_OPTIONS,
  details: [
    "Clients do not pay a 402 without this signature. It is valid for 400 days. Nothing is sent. The viewing key of the",
    "lasting address shows its payments forever: prefer `sotto address schedule`, which signs an address for each month.",
  ],
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
  summary: "Links a phone number to this wallet and proves it with a code.",
  positionals: ["PHONE"],
  options: {
    code: { value: "CODE", help: "the code sent to the number, if an earlier call ended without it" },
    ...REGISTRY,
    ...ACCOUNT_OPTIONS,
  },
  details: [
    "The account signs that payments to its wallet address and this number go to this shielded address. Without a",
    "terminal, the first call ends with exit code 5 once the code is sent; pass the code to a second call with --code.",
  ],
  async run(context) {
    const { args, environment, home, output, signal } = context;
    const config = readConfig(home);
    const phone = phoneNumberOf(args.positional(0, "PHONE"));
    const given = args.text("code");
    if (given !== undefined && !/^[0-9]{4,10}$/.test(given))
      throw usage("--code must be the 4 to 10 digits that were sent");
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
        throw new CliError(
          "PENDING",
          `the registry still needs ${steps.join(", ")}: do that, then run the same command again`,
        );
      if (!canAsk(context))
        throw new CliError("PENDING", "a code was sent to the number: run the same command with --code CODE");
    }
    const code =
      given ?? (await askLine(context, "code that was sent to the number: ", "pass the code with --code CODE"));
    output.progress("proving the number");
    await registry.phoneVerify({ phoneNumber: phone, walletAddress: wallet, code }, { signal });
    return linked;
  },
};

/** The remaining steps, as the registry names them. */
function stepsOf(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.map((step) => printable(String((Object(step) as { step?: unknown }).step ?? "")).slice(0, 32));
}

export const resolve: Command = {
  name: "resolve",
  summary: "Shows the wallet linked to a phone number and checks its signature.",
  positionals: ["PHONE"],
  options: REGISTRY,
  details: [
    "The wallet has signed its shielded address for this number, chain, pool and registry, so the registry cannot change",
    "it. But only the registry says that the number belongs to this wallet: compare the wallet address with its owner.",
    "standing is new, known (paid before at this address) or changed. Looking a number up does not make it trusted; the",
    "first payment does.",
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
