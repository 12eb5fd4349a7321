import { signatureCall } from "@sotto/chain";
import {
  ACCOUNT_OPTIONS,
  CliError,
  type Command,
  type Config,
  type Context,
  named,
  readAccount,
  usage,
  withChain,
} from "@sotto/cli-kit";
import { normalizeSignature, SottoError } from "@sotto/protocol";
import {
  type PrepaidSchedule,
  type SignedSchedule,
  scheduleRequest,
  scheduleTypedData,
  verifyScheduleSignature,
} from "../index.ts";
import { readSchedule, writeSignedSchedule } from "./files.ts";

export const prepaidSign: Command = {
  name: "prepaid sign",
  summary: "Signs a schedule of prepaid keys with your account.",
  positionals: [],
  options: {
    schedule: { value: "FILE", help: "schedule.json of `sotto prepaid keys`" },
    signature: { value: "HEX", help: "the signature by another wallet (also a contract wallet), which is checked" },
    "typed-data": { help: "show the EIP-712 data to sign elsewhere (eth_signTypedData_v4), and write nothing" },
    output: { value: "FILE", help: "default: schedule.signed.json beside the schedule", short: "o" },
    ...ACCOUNT_OPTIONS,
  },
  details: [
    "The account must be the wallet that receives the payments. Sign one schedule for a month and value only: payers and",
    "mirrors compare them. Nothing is sent; then send the result to mirrors with `sotto prepaid push`.",
  ],
  async run(context) {
    const { args } = context;
    const path = args.required("schedule");
    const text = args.text("signature");
    const given = text === undefined ? undefined : named("--signature", () => normalizeSignature(text));
    if (given !== undefined && args.flag("typed-data")) throw usage("--signature and --typed-data cannot be combined");
    const schedule = readSchedule(path);
    return withChain(context, async (chain, config) => {
      assertPlace(schedule, config);
      if (args.flag("typed-data")) {
        const json: unknown = JSON.parse(scheduleRequest(schedule));
        return { json, text: [JSON.stringify(json, null, 2)] };
      }
      const signed = { schedule, signature: given === undefined ? await sign(context, schedule, config) : given };
      if (!(await verifyScheduleSignature(signed, signatureCall(chain))))
        throw new SottoError("INVALID_SIGNATURE", `the signature is not ${schedule.wallet}'s over this schedule`);
      return write(args.text("output") ?? path.replace(/(\.json)?$/, ".signed.json"), signed);
    });
  },
};

function assertPlace({ chainId, pool }: PrepaidSchedule, config: Config): void {
  if (chainId === config.chainId && pool === config.pool) return;
  throw new CliError(
    "REFUSED",
    `the schedule is for the pool ${pool} on chain ${chainId}, but this wallet uses ${config.pool} on chain ${config.chainId}`,
  );
}

/** @throws CliError KEY_MISSING, KEY_FILE_UNSAFE, REFUSED */
async function sign({ args, environment }: Context, schedule: PrepaidSchedule, { chainId }: Config): Promise<string> {
  const account = await readAccount(args.text("keystore"), environment, chainId);
  if (account.address.toLowerCase() !== schedule.wallet)
    throw new CliError(
      "REFUSED",
      `the schedule names the wallet ${schedule.wallet}, but the account is ${account.address.toLowerCase()}; choose its account with --keystore, or pass its --signature`,
    );
  const { domain, types, message } = scheduleTypedData(schedule);
  return account.signTypedData(domain, types, message);
}

function write(file: string, signed: SignedSchedule) {
  writeSignedSchedule(file, signed);
  const { wallet } = signed.schedule;
  return {
    json: { file, wallet, signature: signed.signature },
    text: [`schedule signed by ${wallet}: ${file}`, `Next: \`sotto prepaid push --schedule ${file}\``],
  };
}
