import { addressOf, chainCall, openPhone, openSignatureChain, type Phone } from "@sotto/phone-registry";
import type { ServiceLog } from "@sotto/server";
import type { Config } from "./config/config.ts";
import type { ServiceMetrics } from "./ops/metrics.ts";

export interface PhoneSetup {
  /** Undefined if the registry is off. */
  readonly phone: Phone | undefined;
  /** The port to listen on. It is chosen before the start, because wallets sign the registry's base URL. */
  readonly port: number;
}

/** Opens the phone registry if it is configured. */
export async function setUpPhone(
  config: Config,
  { registry: metrics }: ServiceMetrics,
  log: ServiceLog,
  clock: () => number,
): Promise<PhoneSetup> {
  if (config.phone === undefined) return { phone: undefined, port: config.port };
  const { port, service } = await addressOf(config, config.phone.service);
  const { chainId } = config.phone;
  const chain = openSignatureChain({ urls: config.rpcUrls, chainId, timeoutMs: config.rpcTimeoutMs, log, clock });
  const call = chainCall(chain);
  return { phone: await openPhone({ config: config.phone, service, call, log, metrics, clock }), port };
}
