// The ports of `npm run dev`.
import { CommandError } from "@sotto/command/command";

export interface Ports {
  readonly web: number;
  readonly service: number;
  readonly news: number;
  readonly weather: number;
  readonly faucet: number;
  readonly chain: number;
  readonly model: number;
}

/** Seven ports in a row. @throws CommandError INVALID_PORT */
export function portsFrom(first: number): Ports {
  if (first + 6 > 65535)
    throw new CommandError("INVALID_PORT", `--port ${first} leaves no room for seven ports; choose one up to 65529`);
  const [web, service, news, weather, faucet, chain, model] = [0, 1, 2, 3, 4, 5, 6].map((offset) => first + offset);
  return {
    web: web!,
    service: service!,
    news: news!,
    weather: weather!,
    faucet: faucet!,
    chain: chain!,
    model: model!,
  };
}
