import { codeOf } from "./opening.ts";
import type { PaywallEvent, PaywallOptions } from "./options.ts";

/**
 * Tells the operator what happens. A hook that throws is the operator's trouble, and no request's. Without a hook, a
 * paywall that cannot open yet warns on the process, once for each reason: it would otherwise wait in silence.
 */
export function reporter({ onEvent }: PaywallOptions): (event: PaywallEvent) => void {
  let warned = "";
  const warn = ({ event, error }: PaywallEvent) => {
    if (event !== "opening" || !(error instanceof Error) || error.message === warned) return;
    warned = error.message;
    process.emitWarning(`the paywall cannot sell yet, and keeps trying: ${error.message}`, {
      type: "SottoWarning",
      code: codeOf(error),
    });
  };
  return (event) => {
    try {
      (onEvent ?? warn)(event);
    } catch {
      // There is nobody left to tell.
    }
  };
}
