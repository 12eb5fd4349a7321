import { LOCAL_CHAIN_IDS, SottoError } from "@sotto/protocol";
import { money } from "./format.ts";
import { CliError } from "./frame/errors.ts";
import { type Config, LOCAL_SERVICE } from "./home/config.ts";

/** Rewrites a package's error for the user: amounts in the token's unit, and the next step. */
export function explain(error: unknown, config: Config): unknown {
  if (!(error instanceof SottoError) || error instanceof CliError) return error;
  const message = error.message.replaceAll(/\b(\d{1,40}) base units/g, (_, amount: string) =>
    money(BigInt(amount), config),
  );
  return new SottoError(error.code, withNextStep(message, error, config), error.details, { cause: error });
}

/** The message, with the next step if there is one. */
export function withNextStep(message: string, error: SottoError, { chainId }: Pick<Config, "chainId">): string {
  const next = nextStep(error, LOCAL_CHAIN_IDS.includes(chainId));
  return next === undefined ? message : `${message}; ${next}`;
}

function nextStep({ code, details }: SottoError, local: boolean): string | undefined {
  switch (code) {
    case "INSUFFICIENT_FUNDS":
      return local ? "`sotto deposit AMOUNT --mint` deposits test tokens" : "`sotto deposit AMOUNT` deposits tokens";
    case "INSUFFICIENT_TOKENS":
      return local ? "mint test tokens with --mint" : "send tokens to the account first";
    case "MERGE_REQUIRED":
      return "merge notes with `sotto merge`";
    case "REQUEST_LIMIT_EXCEEDED":
      return "raise it with --max";
    case "DAY_LIMIT_EXCEEDED":
      return "raise it with --max-day; `sotto purchases` lists the open purchases";
    case "HOST_LIMIT_EXCEEDED":
      return "raise it with --max-host; `sotto purchases` lists the open purchases";
    case "FUNDS_TIMED_OUT":
    case "PENDING":
      return details["cause"] === "NO_BLOCKS" && local ? "set it with `sotto init --update --finality 0`" : undefined;
    case "ENDPOINT_NOT_ALLOWED":
      return "if you trust that service, choose it with `sotto init --update --service URL`";
    case "RECIPIENT_CHANGED":
    case "PHONE_CHANGED":
      return "accept the change with --new-recipient";
    case "PAID_BUT_STALE":
    case "PAID_BUT_REFUSED":
      return "`sotto purchases` shows the details for a refund claim; close the purchase with `sotto dismiss ID`";
    case "UNKNOWN_PURCHASE":
      return details["state"] === undefined ? "`sotto purchases` lists the open purchases" : undefined;
    case "SERVICE_UNREACHABLE":
      return local ? `start one at ${LOCAL_SERVICE} with \`npm run service\`` : undefined;
    case "NODE_UNREACHABLE":
      return local ? "start a local chain with `npm run chain`" : undefined;
    case "POOL_NOT_DEPLOYED":
      return local
        ? "a local chain loses its state when it stops: run `npm run deploy:local`, then use a new --home"
        : undefined;
    default:
      return undefined;
  }
}
