import { type Chain, signatureCall } from "@sotto/chain";
import {
  ACCOUNT_OPTIONS,
  type Arguments,
  CliError,
  type Command,
  type Config,
  type Context,
  named,
  readAccount,
  usage,
  withChain,
} from "@sotto/cli-kit";
import { type Address, normalizeSignature, SottoError } from "@sotto/protocol";
import type { TypedData } from "@sotto/protocol/extend";
import {
  meteredTermsRequest,
  meteredTermsTypedData,
  scheduleRequest,
  scheduleTypedData,
  verifyScheduleSignature,
  verifyTermsSignature,
} from "../index.ts";
import { readSchedule, readTerms, writeSignedSchedule, writeSignedTerms } from "./files.ts";

export const prepaidSign: Command = {
  name: "prepaid sign",
  summary: "Signs a schedule of prepaid keys, or the terms of metered routes, with your account.",
  positionals: [],
  options: {
    schedule: { value: "FILE", help: "schedule.json of `sotto prepaid keys`" },
    terms: { value: "FILE", help: "terms.json of `sotto prepaid terms`" },
    signature: { value: "HEX", help: "the signature by another wallet (also a contract wallet), which is checked" },
    "typed-data": { help: "show the EIP-712 data to sign elsewhere (eth_signTypedData_v4), and write nothing" },
    output: { value: "FILE", help: "default: schedule.signed.json or terms.signed.json beside the file", short: "o" },
    ...ACCOUNT_OPTIONS,
  },
  details: [
    "The account must be the wallet that receives the payments. Sign one schedule for a month and value only, and one rule",
    "for a month and route: payers compare them. Nothing is sent. Then send the signed file to mirrors with",
    "`sotto prepaid push`.",
  ],
  async run(context) {
    const { args } = context;
    const path = pathOf(args);
    const text = args.text("signature");
    const given = text === undefined ? undefined : named("--signature", () => normalizeSignature(text));
    if (given !== undefined && args.flag("typed-data")) throw usage("--signature and --typed-data cannot be combined");
    const statement = args.text("terms") === undefined ? scheduleStatement(path) : termsStatement(path);
    return withChain(context, async (chain, config) => {
      assertPlace(statement, config);
      if (args.flag("typed-data")) {
        const json: unknown = JSON.parse(statement.request);
        return { json, text: [JSON.stringify(json, null, 2)] };
      }
      const signature = given ?? (await sign(context, statement, config));
      if (!(await statement.verify(signature, chain)))
        throw new SottoError("INVALID_SIGNATURE", `the signature is not ${statement.wallet}'s over ${statement.name}`);
      const file = args.text("output") ?? path.replace(/(\.json)?$/, ".signed.json");
      statement.write(file, signature);
      return {
        json: { file, wallet: statement.wallet, signature },
        text: [`${statement.title} signed by ${statement.wallet}: ${file}`, ...statement.next(file)],
      };
    });
  },
};

/** What the wallet signs. */
interface Statement {
  readonly title: string;
  /** As messages refer to it. */
  readonly name: string;
  readonly wallet: Address;
  readonly chainId: bigint;
  readonly pool: Address;
  readonly typedData: TypedData;
  /** The second parameter of eth_signTypedData_v4. */
  readonly request: string;
  verify(signature: string, chain: Chain): Promise<boolean>;
  write(file: string, signature: string): void;
  next(file: string): readonly string[];
}

/** @throws CliError USAGE */
function pathOf(args: Arguments): string {
  const terms = args.text("terms");
  if (terms === undefined) return args.required("schedule");
  if (args.text("schedule") !== undefined) throw usage("--schedule and --terms cannot be combined");
  return terms;
}

/** @throws CliError FILE_UNREADABLE */
function scheduleStatement(path: string): Statement {
  const schedule = readSchedule(path);
  return {
    ...{ ...schedule, title: "schedule", name: "this schedule" },
    typedData: scheduleTypedData(schedule),
    request: scheduleRequest(schedule),
    verify: (signature, chain) => verifyScheduleSignature({ schedule, signature }, signatureCall(chain)),
    write: (file, signature) => writeSignedSchedule(file, { schedule, signature }),
    next: (file) => [`Next: \`sotto prepaid push --schedule ${file}\``],
  };
}

/** @throws CliError FILE_UNREADABLE */
function termsStatement(path: string): Statement {
  const terms = readTerms(path);
  return {
    ...{ ...terms, title: "terms", name: "these terms" },
    typedData: meteredTermsTypedData(terms),
    request: meteredTermsRequest(terms),
    verify: (signature, chain) => verifyTermsSignature({ terms, signature }, signatureCall(chain)),
    write: (file, signature) => writeSignedTerms(file, { terms, signature }),
    next: (file) => [
      `Next: \`sotto prepaid push --terms ${file}\`, and give the file to the resource server, as \`terms\` of \`meteredCredit\``,
    ],
  };
}

function assertPlace({ title, chainId, pool }: Statement, config: Config): void {
  if (chainId === config.chainId && pool === config.pool) return;
  const verb = title === "terms" ? "are" : "is";
  throw new CliError(
    "REFUSED",
    `the ${title} ${verb} for the pool ${pool} on chain ${chainId}, but this wallet uses ${config.pool} on chain ${config.chainId}`,
  );
}

/** @throws CliError KEY_MISSING, KEY_FILE_UNSAFE, REFUSED */
async function sign(
  { args, environment }: Context,
  { title, wallet, typedData }: Statement,
  { chainId }: Config,
): Promise<string> {
  const account = await readAccount(args.text("keystore"), environment, chainId);
  if (account.address.toLowerCase() !== wallet)
    throw new CliError(
      "REFUSED",
      `the ${title} ${title === "terms" ? "name" : "names"} the wallet ${wallet}, but the account is ${account.address.toLowerCase()}; choose its account with --keystore, or pass its --signature`,
    );
  const { domain, types, message } = typedData;
  return account.signTypedData(domain, types, message);
}
