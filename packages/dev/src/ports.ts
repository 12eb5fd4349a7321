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
  readonly curator: number;
}

/** Eight ports in a row. @throws CommandError INVALID_PORT */
export function portsFrom(first: number): Ports {
  if (first + 7 > 65535)
    throw new CommandError("INVALID_PORT", `--port ${first} leaves no room for eight ports; choose one up to 65528`);
  const [web, service, news, weather, faucet, chain, model, curator] = Array.from({ length: 8 }, (_, i) => first + i);
  return {
    web: web!,
    service: service!,
    news: news!,
    weather: weather!,
    faucet: faucet!,
    chain: chain!,
    model: model!,
    curator: curator!,
  };
}
