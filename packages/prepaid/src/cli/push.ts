import { type Command, readConfig, serviceOf } from "@sotto/cli-kit";
import { SottoError } from "@sotto/protocol";
import { SottoService } from "@sotto/wallet";
import { pushSchedule } from "../client.ts";
import { encodeSignedSchedule } from "../index.ts";
import { readSignedSchedule } from "./files.ts";

export const prepaidPush: Command = {
  name: "prepaid push",
  summary: "Sends a signed schedule of prepaid keys to mirrors, where payers compare it.",
  positionals: [],
  options: {
    schedule: { value: "FILE", help: "schedule.signed.json of `sotto prepaid sign`" },
    service: {
      value: "URL",
      help: "base URL of a service; can be repeated; default: the wallet's service",
      multiple: true,
    },
  },
  details: [
    "A mirror keeps the first key for each month and value forever, and refuses any other. Pushing again is harmless.",
    "Push before the keys are used, to services of different operators: payers choose the mirrors that they trust.",
    "All services are tried; if one fails, the command fails.",
  ],
  async run({ args, home, output, signal }) {
    const config = readConfig(home);
    const { chainId } = config;
    const signed = encodeSignedSchedule(readSignedSchedule(args.required("schedule")));
    const urls = args.texts("service");
    const services = urls.length === 0 ? [serviceOf(config)] : urls.map((url) => new SottoService(url, { chainId }));
    const mirrors: { service: string; accepted: number; known: number }[] = [];
    const failures: SottoError[] = [];
    for (const service of services) {
      output.progress(`sending the schedule to ${service.url}`);
      try {
        mirrors.push({ service: service.url, ...(await pushSchedule(service, signed, { signal })) });
      } catch (error) {
        if (!(error instanceof SottoError)) throw error;
        failures.push(error);
      }
    }
    const [failure] = failures;
    if (failure !== undefined) {
      const kept = mirrors.map(({ service }) => service).join(" ");
      const text = `${failures.length} of ${services.length} services did not keep the schedule: ${failures.map(({ message }) => message).join("; ")}`;
      throw new SottoError(failure.code, text, { ...failure.details, kept }, { cause: failure });
    }
    return {
      json: { mirrors },
      text: mirrors.map(({ service, accepted, known }) => `${service}: ${accepted} new keys, ${known} known`),
    };
  },
};
