import { type Arguments, type Command, counted, readConfig, serviceOf, usage } from "@sotto/cli-kit";
import { SottoError } from "@sotto/protocol";
import { type CallOptions, SottoService } from "@sotto/wallet";
import { type PushedSchedule, type PushedTerms, pushSchedule, pushTerms } from "../client.ts";
import { encodeSignedSchedule, encodeSignedTerms } from "../index.ts";
import { readSignedSchedule, readSignedTerms } from "./files.ts";

export const prepaidPush: Command = {
  name: "prepaid push",
  summary: "Sends a signed schedule of prepaid keys, or signed terms, to mirrors, where payers compare them.",
  positionals: [],
  options: {
    schedule: { value: "FILE", help: "schedule.signed.json of `sotto prepaid sign`" },
    terms: { value: "FILE", help: "terms.signed.json of `sotto prepaid sign`" },
    service: {
      value: "URL",
      help: "base URL of a service; can be repeated; default: the wallet's service",
      multiple: true,
    },
  },
  details: [
    "A mirror keeps the first key for each month and value, and the first rule and receipt key for each month, forever, and",
    "refuses any other. Pushing again is harmless. Push before keys and terms are used, to services of different operators:",
    "payers choose the mirrors that they trust. All services are tried; if one fails, the command fails.",
  ],
  async run({ args, home, output, signal }) {
    const config = readConfig(home);
    const { chainId } = config;
    const { name, send } = readPush(args);
    const urls = args.texts("service");
    const services = urls.length === 0 ? [serviceOf(config)] : urls.map((url) => new SottoService(url, { chainId }));
    const mirrors: (Sent & { service: string })[] = [];
    const failures: SottoError[] = [];
    for (const service of services) {
      output.progress(`sending the ${name} to ${service.url}`);
      try {
        mirrors.push({ service: service.url, ...(await send(service, { signal })) });
      } catch (error) {
        if (!(error instanceof SottoError)) throw error;
        failures.push(error);
      }
    }
    const [failure] = failures;
    if (failure !== undefined) {
      const kept = mirrors.map(({ service }) => service).join(" ");
      const text = `${failures.length} of ${services.length} services did not keep the ${name}: ${failures.map(({ message }) => message).join("; ")}`;
      throw new SottoError(failure.code, text, { ...failure.details, kept }, { cause: failure });
    }
    return {
      json: { mirrors: mirrors.map(({ service, result }) => ({ service, ...result })) },
      text: mirrors.map(({ service, text }) => `${service}: ${text}`),
    };
  },
};

/** A mirror's answer, for --json and as text. */
interface Sent {
  readonly result: PushedSchedule | PushedTerms;
  readonly text: string;
}

/** A signed statement to push. */
interface Push {
  readonly name: string;
  send(service: SottoService, options: CallOptions): Promise<Sent>;
}

/** @throws CliError USAGE, FILE_UNREADABLE */
function readPush(args: Arguments): Push {
  const terms = args.text("terms");
  if (terms === undefined) {
    const signed = encodeSignedSchedule(readSignedSchedule(args.required("schedule")));
    return {
      name: "schedule",
      async send(service, options) {
        const result = await pushSchedule(service, signed, options);
        return { result, text: `${counted(result.accepted, "new key")}, ${result.known} known` };
      },
    };
  }
  if (args.text("schedule") !== undefined) throw usage("--schedule and --terms cannot be combined");
  const signed = encodeSignedTerms(readSignedTerms(terms));
  return {
    name: "terms",
    async send(service, options) {
      const result = await pushTerms(service, signed, options);
      return { result, text: result.accepted ? "new terms" : "known terms" };
    },
  };
}
