import { rejection } from "@sotto/test-kit/rejection";
import { SottoService } from "@sotto/wallet";
import { expect } from "chai";
import { pushSchedule, pushTerms } from "../../src/client/push.ts";
import type { WireSignedMeteredTerms, WireSignedSchedule } from "../../src/index.ts";

describe("pushing a schedule to a mirror", () => {
  it("sends the signed schedule, and validates the numbers of keys in the response", async () => {
    const signed = { schedule: { origin: "https://a.example" }, signature: "0x12" } as unknown as WireSignedSchedule;
    const answers: [number, unknown][] = [
      [201, { accepted: 144, known: 0 }],
      [409, { code: "PREPAID_SCHEDULE_CONFLICT", message: "another key" }],
    ];
    const asked: string[] = [];
    const service = new SottoService("https://mirror.example/zk", {
      fetch: async (url, init) => {
        asked.push(`${init?.method} ${String(url)} ${String(init?.body)}`);
        const [status, body] = answers.shift()!;
        return Response.json(body, { status });
      },
    });
    expect(await pushSchedule(service, signed)).to.deep.equal({ accepted: 144, known: 0 });
    expect(asked).to.deep.equal([`POST https://mirror.example/zk/prepaid/schedules ${JSON.stringify(signed)}`]);
    const conflict = await rejection(pushSchedule(service, signed));
    expect([conflict.code, conflict.details.reason]).to.deep.equal(["SERVICE_REFUSED", "PREPAID_SCHEDULE_CONFLICT"]);
    for (const body of [
      {},
      { accepted: 1 },
      { accepted: "1", known: 0 },
      { accepted: 145, known: 0 },
      { accepted: -1, known: 1 },
    ]) {
      answers.push([200, body]);
      expect((await rejection(pushSchedule(service, signed))).code).to.equal("SERVICE_ANSWER_INVALID");
    }
  });

  it("sends signed terms, and validates that the response says whether they are new", async () => {
    const signed = { terms: { origin: "https://a.example" }, signature: "0x12" } as unknown as WireSignedMeteredTerms;
    const answers: unknown[] = [{ accepted: true }, { accepted: false }, {}, { accepted: 1 }];
    const asked: string[] = [];
    const service = new SottoService("https://mirror.example/zk", {
      fetch: async (url, init) => {
        asked.push(`${init?.method} ${String(url)} ${String(init?.body)}`);
        return Response.json(answers.shift());
      },
    });
    expect(await pushTerms(service, signed)).to.deep.equal({ accepted: true });
    expect(asked).to.deep.equal([`POST https://mirror.example/zk/prepaid/terms ${JSON.stringify(signed)}`]);
    expect(await pushTerms(service, signed)).to.deep.equal({ accepted: false });
    for (let i = 0; i < 2; i += 1)
      expect((await rejection(pushTerms(service, signed))).code).to.equal("SERVICE_ANSWER_INVALID");
  });
});
