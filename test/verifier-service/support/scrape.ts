// What Prometheus reads from a service.
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { eventually } from "@sotto/test-kit/eventually";
import { call } from "@sotto/test-kit/http";
import { openService, type TestService, type World } from "@sotto/test-world/service";
import { type Series, seriesOf } from "./alerts.ts";

export const scrape = async ({ metricsUrl }: Pick<TestService, "metricsUrl">): Promise<Series[]> =>
  seriesOf(await (await fetch(metricsUrl)).text());

/**
 * All series: of a service that is not ready, so that it shows a cause, and has two nodes, which are compared, and an account whose
 * signer is down.
 */
export async function scrapeAll(world: World): Promise<Series[]> {
  const service = closedAfterTest(
    await openService({
      SOTTO_LEAST_BALANCE: String(10n ** 30n),
      SOTTO_RPC_URLS: `${world.node.url},${world.node.url.replace("127.0.0.1", "localhost")}`,
      SOTTO_SIGNER_URL: "http://127.0.0.1:1",
      SOTTO_SIGNER_ACCOUNTS: `0x${"5a".repeat(20)}`,
    }),
  );
  await call(`${service.url}/nothing`);
  return eventually(async () => {
    const found = await scrape(service);
    const has = (metric: string) => found.some((each) => each.metric === metric);
    const late = ["unready_cause", "node_lag_blocks", "relayer_account_fault", "relayer_silence_seconds"];
    return late.every((name) => has(`sotto_${name}`)) && found;
  });
}
