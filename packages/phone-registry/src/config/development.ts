import { allowsDevelopment } from "@sotto/protocol";
import type { Environment } from "@sotto/server";

/** On a local chain the default sender is a file. Environment variables take precedence. */
export function withDevelopmentDefaults(environment: Environment): Environment {
  const local = allowsDevelopment(environment, environment["SOTTO_CHAIN_ID"]);
  const ownSender =
    environment["SOTTO_PHONE_SENDER"] !== undefined || environment["SOTTO_PHONE_WEBHOOK_URL"] !== undefined;
  return local && !ownSender ? { ...environment, SOTTO_PHONE_SENDER: "file" } : environment;
}
