// Service, resource server and clients in production mode: a payer deposits, pays and withdraws, and every balance is compared.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { CommandError } from "@sotto/command/command";
import { paint, table } from "@sotto/command/terminal";
import { toJson } from "@sotto/keys/circuits/files";
import { type DeploymentManifest, formatDecimalAmount, parseDecimalAmount } from "@sotto/protocol";
import { Wallet as Account, Contract } from "ethers";
import { BLOCK_TIME_MS, type Chain, PUBLIC_KEY } from "./deployment.ts";
import { type Command, npmRun, type Variables } from "./programs.ts";
import type { Rehearsal } from "./rehearsal.ts";

const DECIMALS = 6;
const units = (amount: string): bigint => parseDecimalAmount(amount, DECIMALS);
const [MINTED, DEPOSITED, PRICE, WITHDRAWN] = ["10", "5", "0.05", "1"] as const;
const PRODUCTION = { NODE_ENV: "production" } as const;
/** Where commands in the copy find the files of this run. */
const RUN = "../run";
const PROGRAM = "packages/rehearsal/src/resource-server.ts";
const RESOURCE_SERVER: Command = { typed: `node ${PROGRAM}`, argv: [PROGRAM] };
const TOKEN = ["function mint(address, uint256)", "function balanceOf(address) view returns (uint256)"];
const POLL_MS = 500;

interface Place {
  readonly chain: Chain;
  readonly manifest: DeploymentManifest;
  /** Path of the manifest in the copy. */
  readonly path: string;
}

export async function payAndWithdraw(rehearsal: Rehearsal, place: Place): Promise<void> {
  const { screen, programs } = rehearsal;
  const { chain, manifest } = place;
  const service = await startService(rehearsal, place);

  screen.write(`\n${paint(screen, "bold", "4. Resource server and clients")}\n`);
  const [merchant, payer, receiver] = [Account.createRandom(), Account.createRandom(), Account.createRandom()];
  const token = await mintTo(payer.address, place);
  const as = (account: { readonly privateKey: string }) => ({ ...PRODUCTION, SOTTO_ACCOUNT_KEY: account.privateKey });
  const sotto = (args: readonly string[], variables: Variables = PRODUCTION) =>
    programs.run(npmRun("sotto", ...args), variables);
  const init = ["--deployment", place.path, "--rpc", chain.url] as const;
  const [merchantHome, payerHome] = [`${RUN}/merchant`, `${RUN}/payer`] as const;

  await programs.refused(
    "a service without https on another machine",
    ["SERVICE_NOT_SECURE"],
    npmRun("sotto", "init", ...init, "--service", "http://pay.example/zk", "--home", `${RUN}/nobody`),
    PRODUCTION,
  );
  await sotto(["init", ...init, "--service", service, "--home", merchantHome]);
  await programs.refused(
    "a recipient without an account of its own",
    ["KEY_MISSING"],
    npmRun("sotto", "recipient", "--home", merchantHome),
    PRODUCTION,
  );
  const recipient = await sotto(["recipient", "--home", merchantHome, "--json"], as(merchant));
  writeFileSync(join(rehearsal.folder, "run", "recipient.json"), recipient.stdout);

  const url = await startResourceServer(rehearsal, place, service);
  await sotto(["init", ...init, "--service", service, "--home", payerHome]);
  const deposit = ["deposit", DEPOSITED, "--notes", "2", "--home", payerHome] as const;
  await programs.refused(
    "test tokens on this chain",
    ["USAGE", "--mint"],
    npmRun("sotto", ...deposit, "--mint"),
    PRODUCTION,
  );
  await programs.refused("a deposit without an account", ["KEY_MISSING"], npmRun("sotto", ...deposit), PRODUCTION);
  await programs.refused(
    "a deposit from a public account",
    ["ACCOUNT_PUBLIC"],
    npmRun("sotto", ...deposit),
    as({ privateKey: PUBLIC_KEY }),
  );
  await sotto(deposit, as(payer));
  const paid = await sotto(["pay", url, "--max", PRICE, "--home", payerHome]);
  programs.note(`the resource server answered: ${paid.stdout.trim()}`);
  await sotto(["withdraw", WITHDRAWN, "--to", receiver.address, "--yes", "--home", payerHome]);

  const held = async (home: string): Promise<bigint> => {
    const { stdout } = await sotto(["balance", "--json", "--home", home]);
    return BigInt((JSON.parse(stdout) as { total: { amount: string } }).total.amount);
  };
  const balanceOf = (account: string): Promise<bigint> => token.getFunction("balanceOf")(account);
  const rows: readonly (readonly [what: string, found: bigint, expected: bigint])[] = [
    ["payer's account", await balanceOf(payer.address), units(MINTED) - units(DEPOSITED)],
    ["account that received the withdrawal", await balanceOf(receiver.address), units(WITHDRAWN)],
    ["pool", await balanceOf(manifest.pool), units(DEPOSITED) - units(WITHDRAWN)],
    ["payer's notes", await held(payerHome), units(DEPOSITED) - units(PRICE) - units(WITHDRAWN)],
    ["merchant's notes", await held(merchantHome), units(PRICE)],
  ];
  screen.write(`\n${paint(screen, "bold", "Balances")}\n`);
  const shown = rows.map(([what, found, expected]) => [
    `   ${what}`,
    formatDecimalAmount(found, DECIMALS),
    found === expected ? "exact" : `expected ${formatDecimalAmount(expected, DECIMALS)}`,
  ]);
  screen.write(table(shown));
  if (rows.some(([, found, expected]) => found !== expected))
    throw new CommandError("BALANCES_DIFFER", "a balance is not what was deposited, paid and withdrawn");
}

async function mintTo(account: string, { chain, manifest }: Place): Promise<Contract> {
  const issuer = Account.createRandom(chain.provider);
  await chain.fund(issuer.address);
  const token = new Contract(manifest.token, TOKEN, issuer);
  await (await token.getFunction("mint")(account, units(MINTED))).wait();
  return token;
}

/** @returns the service's base URL */
async function startService({ folder, programs }: Rehearsal, { chain, path, manifest }: Place): Promise<string> {
  const relayer = Account.createRandom();
  await chain.fund(relayer.address);
  for (const [name, secret] of [
    ["relayer-key", relayer.privateKey],
    ["rpc-urls", chain.url],
  ] as const)
    writeFileSync(join(folder, "run", name), secret, { mode: 0o600 });
  const tokenKeys = `${RUN}/token-keys`;
  const settings: Variables = {
    ...PRODUCTION,
    SOTTO_PORT: "0",
    SOTTO_DEPLOYMENT: path,
    SOTTO_RPC_URLS_FILE: `${RUN}/rpc-urls`,
    SOTTO_RELAYER_KEY_FILE: `${RUN}/relayer-key`,
    SOTTO_TOKEN_KEYS: tokenKeys,
    SOTTO_STORE: `sqlite:${RUN}/service.sqlite`,
    SOTTO_BLOCK_TIME_MS: String(BLOCK_TIME_MS),
  };
  const without = (...names: readonly string[]): Variables =>
    Object.fromEntries(Object.entries(settings).filter(([name]) => !names.includes(name)));
  const own = { SOTTO_CHAIN_ID: String(manifest.chainId), SOTTO_POOL: manifest.pool };
  const refused = (what: string, error: readonly [string, string?], variables: Variables) =>
    programs.refused(what, error, npmRun("service"), variables);
  await refused("a service without a pool", ["INVALID_CONFIG", "no pool is configured"], without("SOTTO_DEPLOYMENT"));
  await refused(
    "a service without a relayer's key",
    ["INVALID_CONFIG", "SOTTO_RELAYER_KEY"],
    without("SOTTO_RELAYER_KEY_FILE"),
  );
  await refused("a public account as the relayer", ["INVALID_CONFIG", "public account"], {
    ...without("SOTTO_RELAYER_KEY_FILE"),
    SOTTO_RELAYER_KEY: PUBLIC_KEY,
  });
  await refused("a service with development keys", ["DEVELOPMENT_KEYS_REFUSED"], {
    ...without("SOTTO_DEPLOYMENT"),
    ...own,
  });
  await refused("the same, as if the chain were local", ["DEVELOPMENT_KEYS_REFUSED"], {
    ...without("SOTTO_DEPLOYMENT"),
    ...own,
    SOTTO_CHAIN_ID: "31337",
  });
  await refused("a service without a token key", ["TOKEN_KEY_INVALID"], settings);
  await refused("phone codes on the screen", ["INVALID_CONFIG", "SOTTO_PHONE_SENDER"], {
    ...settings,
    SOTTO_PHONE_REGISTRY: "on",
    SOTTO_PHONE_SENDER: "log",
  });
  await programs.run(npmRun("token-key", tokenKeys));
  const url = await programs.start(npmRun("service"), /sotto service at (\S+):/, settings);
  await untilReady(url);
  programs.note(`ready at ${url}; plain http is allowed on this machine only`);
  return url;
}

async function untilReady(service: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const { status } = await fetch(`${service}/readyz`);
    if (status === 200) return;
    if (Date.now() > deadline) throw new CommandError("REHEARSAL_FAILED", `the service at ${service} is not ready`);
    await setTimeout(POLL_MS);
  }
}

/** @returns the URL of its paid resource */
async function startResourceServer(
  { folder, programs }: Rehearsal,
  { chain, manifest, path }: Place,
  service: string,
): Promise<string> {
  const settings: Variables = {
    ...PRODUCTION,
    DEPLOYMENT: path,
    RECIPIENT: `${RUN}/recipient.json`,
    RPC_URL: chain.url,
    PRICE,
    SERVICE: service,
    STORE: `sqlite:${RUN}/payments.sqlite`,
    BLOCK_TIME_MS: String(BLOCK_TIME_MS),
  };
  const { STORE: _, ...forgetful } = settings;
  const place = (name: string, changes: object): Variables => {
    writeFileSync(join(folder, "run", name), toJson({ ...manifest, ...changes }));
    return { ...settings, DEPLOYMENT: `${RUN}/${name}` };
  };
  const refused = (what: string, error: readonly [string, string?], variables: Variables) =>
    programs.refused(what, error, RESOURCE_SERVER, variables);
  await refused("a resource server without a store", ["INVALID_OPTION", "store"], forgetful);
  await refused("a resource server whose service has no https", ["INVALID_OPTION", "https"], {
    ...settings,
    SERVICE: "http://pay.example/zk",
  });
  await refused(
    "a resource server with development keys",
    ["DEVELOPMENT_KEYS_REFUSED"],
    place("development.json", { set: "development" }),
  );
  await refused(
    "the same, as if the chain were local",
    ["DEVELOPMENT_KEYS_REFUSED"],
    place("local.json", { set: "development", chainId: 31337 }),
  );
  return programs.start(RESOURCE_SERVER, /(\S+) costs/, settings);
}
