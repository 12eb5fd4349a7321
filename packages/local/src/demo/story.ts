// The story's steps. Each checks its own result and throws if it is not as expected.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type PurchaseStage, payPhone, phonePin, signPhoneLink, type WrapOptions, wrapFetch } from "@sotto/client";
import { CommandError } from "@sotto/command/command";
import { median } from "@sotto/command/median";
import { indent, paint, progress, say, table } from "@sotto/command/terminal";
import { encodeEvidence, parseSet } from "@sotto/origins";
import { showOrigins } from "@sotto/origins/client";
import { assertEvidence } from "@sotto/origins/evidence";
import { Origins } from "@sotto/origins/wallet";
import { type MeteredRule, meteredValues } from "@sotto/prepaid";
import {
  buyPrepaid,
  listCharges,
  listPrepaid,
  mergePrepaid,
  type PrepaidOptions,
  prepaid,
} from "@sotto/prepaid/client";
import { describeKeys, parseAddress, parseInstructions, type WireBundle } from "@sotto/protocol";
import { createVerifier, loadArtifacts } from "@sotto/prover";
import { freePort } from "@sotto/server";
import { ethersChain, splitAmount } from "@sotto/wallet";
import type { TransactionReceipt } from "ethers";
import { createAddresses, serverKeys } from "../merchant/addresses.ts";
import { createMeteredTerms } from "../merchant/metered-terms.ts";
import { createPrepaidKeys } from "../merchant/prepaid-keys.ts";
import {
  ADDED,
  CASHED,
  DAY,
  DEPOSITED,
  HOUR,
  MAX_PER_DAY,
  MAX_PER_REQUEST,
  MAX_WITH_PACK,
  NOTES,
  OUTLOOK,
  PACK_TOKENS,
  RELAYER_FEE,
  TIP,
  usdc,
  WITHDRAWN,
} from "./amounts.ts";
import { codeFile, startChild } from "./processes.ts";
import type { ResourceServer, Sale, ServersOrder, SharedOptions } from "./resource-servers.ts";
import type { Step } from "./step.ts";
import { eventsOf, searchSecrets, short } from "./views.ts";
import { assertSet, PHONE, type World } from "./world.ts";

const APPEND_TIMEOUT_MS = 60_000;
const POLL_INTERVAL_MS = 50;

/** Waits until the service has moved every queued note into the tree. */
async function waitForAppend({ poolContract, screen }: World): Promise<void> {
  await progress(screen, "the service adds the new notes to the tree", async () => {
    for (const end = Date.now() + APPEND_TIMEOUT_MS; ; await wait(POLL_INTERVAL_MS)) {
      const { size, appended } = await poolContract.getFunction("queue")();
      if (appended === size) return;
      if (Date.now() > end) throw new CommandError("NOT_APPENDED", `${size - appended} notes are still in the queue`);
    }
  });
}

export const deposit: Step = {
  title: "The payer signs a deposit of test dollars; the service submits it",
  async play(world) {
    const { account, wallet } = world.payer;
    const amounts = splitAmount(DEPOSITED, NOTES);
    await wallet.fund({ amounts, account, service: world.service });
    return {
      payer: [
        `signed one message as ${short(account.address)}, an account without ETH`,
        `can spend ${usdc(wallet.balance().spendable)} in ${NOTES} notes: one for each parallel payment`,
      ],
    };
  },
};

const link: Step = {
  title: "The merchant links its phone number to its wallet",
  async play(world) {
    const { merchant, service: registry } = world;
    const signed = await signPhoneLink(merchant.wallet, merchant.account, { phone: PHONE, service: registry.url });
    const { phoneNumber, walletAddress, encryptionPublicKey } = signed;
    await registry.link({ ...signed });
    await registry.phoneVerify({ phoneNumber, walletAddress, code: sentCode(world) });
    const { wallet, verified } = await registry.resolve(PHONE);
    if (!verified || wallet.toLowerCase() !== walletAddress)
      throw new CommandError("NOT_LINKED", `${PHONE} resolves to ${wallet}, expected ${walletAddress}, verified`);
    const listed = { phone: PHONE, service: registry.url };
    world.addresses = await createAddresses(merchant.wallet, merchant.account, listed);
    return {
      merchant: [
        `signed that payments to ${PHONE} go to the shielded address ${short(encryptionPublicKey)}`,
        `signed an address of each of ${world.addresses.bindings.length} months, for its servers`,
        "entered the code that was sent to the phone",
        `now the number resolves to ${short(wallet)}, verified`,
      ],
    };
  },
};

/** The code that the development sender wrote into a file instead of sending it. */
function sentCode({ folder }: World): string {
  const lines = readFileSync(codeFile(folder), "utf8").trim().split("\n");
  const messages = lines.map((line) => JSON.parse(line) as { phoneNumber: string; code: string });
  const message = messages.findLast(({ phoneNumber }) => phoneNumber === PHONE);
  if (message === undefined) throw new CommandError("NO_CODE", "no code was sent to the merchant's number");
  return message.code;
}

const challenge: Step = {
  title: "The merchant starts four resource servers; one line in each charges",
  async play(world) {
    const { screen } = world;
    const servers = await progress(screen, "starting servers on Express, Fastify, Hono and fetch", () =>
      startServers(world),
    );
    world.servers = servers;
    const lines = servers.map(({ name, line, origin, price }) => [name, line, origin, `${price} USDC`]);
    screen.write(indent(table(lines)));
    const url = `${servers[0]?.origin}/articles/1`;
    const response = await fetch(url);
    if (response.status !== 402)
      throw new CommandError("NOT_CHARGED", `${url} answered ${response.status}, expected 402`);
    const { payment, metadata } = parseInstructions(await response.json());
    const { recipient } = payment;
    const rows = [
      ["www-authenticate", String(response.headers.get("www-authenticate"))],
      ["payment.amount", `${payment.amount} ${payment.currency}, ${payment.amountBaseUnits} base units`],
      ["payment.recipient.phone", String(recipient.phone)],
      ["  .wallet", short(recipient.wallet)],
      ["  .shieldedAddress", short(recipient.shieldedAddress)],
      ["  .signature", `${short(recipient.signature)}, by the wallet`],
      ["payment.schedule.digest", `${short(String(payment.schedule?.digest))}, of all months`],
      ["payment.verifyEndpoint", payment.verifyEndpoint],
      ["payment.settleEndpoint", payment.settleEndpoint],
      ["metadata.resource", metadata.resource],
    ];
    screen.write(`\n   GET ${url}\n   ${response.status} ${response.statusText}\n${indent(table(rows))}`);
    return {
      payer: [`sent a request without payment and got the price, ${usdc(BigInt(payment.amountBaseUnits))}`],
      merchant: [
        `its servers have the viewing keys of ${describeKeys(serverKeys(world.merchant.wallet))} only: a thief could read ` +
          "what these months' addresses received, and spend nothing",
      ],
    };
  },
};

/** What the weather server charges for an outlook. Hours have the value of a day, so one key serves both. */
const OUTLOOK_RULE: MeteredRule = { base: 0n, units: [{ name: "days", price: DAY, per: 1 }], cap: OUTLOOK, grain: DAY };

/** Starts the servers with one shared store, so that each payment is accepted by only one of them. */
async function startServers(world: World): Promise<readonly ResourceServer[]> {
  const { merchant, service, pool, chain, folder } = world;
  const shared: SharedOptions = {
    recipient: { addresses: assertSet(world.addresses, "addresses"), viewingKeys: serverKeys(merchant.wallet) },
    service: service.url,
    chain: { rpcUrls: [chain.url], chainId: chain.id, pool },
    store: `sqlite:${join(folder, "payments.sqlite")}`,
  };
  const free = new Set<number>();
  while (free.size < 4) free.add(await freePort("127.0.0.1"));
  const ports = [...free];
  const place = { chainId: BigInt(chain.id), pool: parseAddress(pool), origin: `http://127.0.0.1:${ports[1]}` };
  const keys = await createPrepaidKeys(merchant.account, { ...place, values: meteredValues(OUTLOOK_RULE) });
  const routes = [{ method: "GET", path: "/outlook/:city", rule: OUTLOOK_RULE }];
  const credit = await createMeteredTerms(merchant.account, { ...place, routes });
  const order: ServersOrder = {
    shared,
    ports,
    prepaid: { ...keys, guard: join(folder, "guard") },
    credit,
    set: world.set,
  };
  return startChild("resource-servers.ts", { environment: {}, order }, world.cleanup);
}

const STAGES: Partial<Record<PurchaseStage, string>> = {
  challenge: "reads the 402: the price is within the limits",
  recipient: "checks the recipient's signature and its entry in the registry",
  funds: "waits for a note",
  proving: "proves that a note pays the price to this address and returns change",
  verifying: "sends both proofs to the service, which verifies them",
  settling: "asks the service to settle; its relayer pays the gas",
  confirming: "finds the payment on the chain",
  paid: "has paid",
  presenting: "repeats the request with the proof",
  delivered: "gets the response",
  token: "repeats the request with a prepaid token",
};

const payOnce: Step = {
  title: "The payer pays for a request with another fetch",
  async play(world) {
    const { payer, wire, service, screen } = world;
    const [server] = assertSet(world.servers, "resource servers");
    world.pay = wrapFetch(wire.toServers, payer.wallet, {
      services: [service.url],
      phoneRegistry: service.url,
      maxPerRequest: MAX_PER_REQUEST,
      maxPerDay: MAX_PER_DAY,
      serviceFetch: wire.toService,
    });
    const url = `${server?.origin}/articles/1`;
    screen.write(
      [
        "   const pay = wrapFetch(fetch, wallet, {",
        `     services, phoneRegistry, maxPerRequest: ${MAX_PER_REQUEST}n, maxPerDay: ${MAX_PER_DAY}n,`,
        "   });",
        `   await pay("${url}");`,
        "\n",
      ].join("\n"),
    );
    const before = payer.wallet.balance().total;
    const start = performance.now();
    const onProgress = ({ stage }: { stage: PurchaseStage }) => {
      const seconds = ((performance.now() - start) / 1000).toFixed(2).padStart(5);
      screen.write(`   ${paint(screen, "dim", `${seconds} s`)}  ${STAGES[stage] ?? stage}\n`);
    };
    const response = await world.pay(url, { sotto: { onProgress } });
    const sale = (await response.json()) as Sale;
    say(screen, `${response.status} ${JSON.stringify(sale)}`);
    const price = BigInt(sale.paid);
    await payer.wallet.scan();
    const after = payer.wallet.balance().total;
    if (response.status !== 200 || after !== before - price)
      throw new CommandError("NOT_PAID_ONCE", `status ${response.status}, and ${before - after} base units were paid`);
    world.sales.push({ price, goods: sale.goods });
    return {
      payer: [`has ${sale.goods}; paid ${usdc(price)} and no gas`, `${usdc(after)} are left`],
      merchant: [`its server read with the viewing key that it got ${usdc(price)}, but not from whom`],
    };
  },
};

/** The payer's requests: one after the other at each server, all servers in parallel. */
const REQUESTS: Readonly<Record<string, readonly string[]>> = {
  news: ["/articles/2", "/articles/3", "/articles/4", "/articles/5"],
  weather: ["/forecast/berlin", "/forecast/lima"],
  words: ["/translate/quietly", "/translate/voce"],
  rates: ["/rates/EUR", "/rates/JPY"],
};

const payTen: Step = {
  title: "Ten requests to the four servers, four at a time, one note for each",
  async play(world) {
    const { payer, screen } = world;
    const servers = assertSet(world.servers, "resource servers");
    const before = payer.wallet.balance().total;
    const start = performance.now();
    const bought: Bought[] = [];
    let last = "";
    const visit = async (server: ResourceServer) => {
      for (const target of REQUESTS[server.name] ?? []) {
        bought.push(await buy(world, server, target));
        last = `${server.origin}${target}`;
      }
    };
    await Promise.all(servers.map(visit));
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    await replay(world, last);
    await payer.wallet.scan();
    const spent = before - payer.wallet.balance().total;
    const prices = bought.reduce((sum, { price }) => sum + price, 0n);
    if (spent !== prices) throw new CommandError("PAID_TWICE", `spent ${usdc(spent)} for ${usdc(prices)}`);
    const each = median(bought.map((one) => one.seconds)).toFixed(1);
    say(screen, `${bought.length} paid requests in ${seconds} s; median ${each} s from request to response.`, "green");
    say(screen, `Everything, including the chain, shares ${availableParallelism()} cores here.`, "green");
    return {
      payer: [
        `spent ${usdc(spent)}, exactly the ${bought.length} prices: nothing was paid twice`,
        `${usdc(payer.wallet.balance().total)} are left`,
      ],
      merchant: ["its servers share one store: a proof gets one response, from one of them"],
    };
  },
};

interface Bought {
  readonly seconds: number;
  readonly price: bigint;
}

/** Calls the paying fetch like any fetch. @throws CommandError NOT_SERVED */
async function buy(world: World, server: ResourceServer, target: string): Promise<Bought> {
  const start = performance.now();
  const response = await assertSet(world.pay, "paying fetch")(`${server.origin}${target}`);
  const seconds = (performance.now() - start) / 1000;
  if (response.status !== 200)
    throw new CommandError("NOT_SERVED", `${server.origin}${target} answered ${response.status}, expected 200`);
  const { goods, paid } = (await response.json()) as Sale;
  const price = BigInt(paid);
  const row = [response.status, server.name.padEnd(7), server.framework.padEnd(7), `GET ${target}`.padEnd(22)];
  say(world.screen, [...row, usdc(price), `${seconds.toFixed(1).padStart(5)} s`].join("  "));
  world.sales.push({ price, goods });
  return { seconds, price };
}

/** Repeats a paid request with its proof, as a thief of the header would. */
async function replay({ screen, wire }: World, url: string): Promise<void> {
  const response = await fetch(url, { headers: { "x-payment-proof": wire.proof ?? "" } });
  const { message } = (await response.json()) as { message?: string };
  if (response.status !== 402)
    throw new CommandError("PAID_TWICE", `a used proof was answered with ${response.status}, expected 402`);
  say(screen, `${response.status}  to a thief who repeats the proof: "${message}"`, "yellow");
}

const payNumber: Step = {
  title: "The payer pays a phone number",
  async play(world) {
    const { payer, service, screen } = world;
    const request = { phone: PHONE, amount: TIP, key: "thanks" };
    const first = await progress(screen, `paying ${PHONE}`, () => payPhone(payer.wallet, service, request));
    const again = await payPhone(payer.wallet, service, request);
    if (again.txSignature !== first.txSignature) throw new CommandError("PAID_TWICE", "the number was paid twice");
    const pin = await phonePin(payer.wallet.store, PHONE);
    await payer.wallet.scan();
    return {
      payer: [
        `paid ${usdc(first.amount)} to ${short(first.wallet)} in ${short(first.txSignature)}`,
        'paid once under the key "thanks": a second call returned the same payment',
        `pinned the number to ${short(pin?.wallet ?? "")}: it asks before paying another wallet`,
      ],
      merchant: ["told the payer only its number"],
    };
  },
};

const read: Step = {
  title: "The merchant's server reads the payments with its viewing keys",
  async play(world) {
    const { server, wallet } = world.merchant;
    await Promise.all([server.scan(), wallet.scan()]);
    const received = server.received();
    const expected = world.sales.map(({ price }) => price);
    const total = expected.reduce((sum, price) => sum + price, 0n);
    if (received.length !== expected.length || server.total() !== total)
      throw new CommandError(
        "NOT_READ",
        `read ${received.length} payments of ${usdc(server.total())}, expected ${expected.length} of ${usdc(total)}`,
      );
    if (wallet.balance().total !== total + TIP)
      throw new CommandError(
        "NOT_READ",
        `the owner has ${usdc(wallet.balance().total)}, expected ${usdc(total + TIP)}`,
      );
    const counts = new Map<bigint, number>();
    for (const { amount } of received) counts.set(amount, (counts.get(amount) ?? 0) + 1);
    const sums = [...counts].map(([amount, count]) => [`${count} of`, usdc(amount), "=", usdc(amount * BigInt(count))]);
    world.screen.write(indent(table(sums)));
    return {
      merchant: [
        `${received.length} payments, ${usdc(total)}: exactly what was sold`,
        `these keys open the addresses of ${describeKeys(serverKeys(wallet))} only: the ${usdc(TIP)} to the phone number ` +
          "went to the lasting address, whose key only the owner has",
        "they cannot spend, and show neither the payer nor what the owner spends",
      ],
    };
  },
};

/** The number of payments that are shown in full. */
const SHOWN = 3;

const inspect: Step = {
  title: "What the chain and the service have seen of the payments",
  async play(world) {
    const { transactions, pool, screen, wire, payer } = world;
    const events = (receipt: TransactionReceipt) => eventsOf(pool, receipt);
    const receipts = transactions.receipts.filter((receipt) => events(receipt).some(({ type }) => type === "settled"));
    const payments = receipts.flatMap(events).filter((event) => event.type === "settled");
    const rows = payments.map(({ nullifier, ephemeralX, hiddenCipherX, recipientCommitment, changeCommitment }) =>
      [nullifier, ephemeralX, hiddenCipherX, recipientCommitment, changeCommitment].map(short),
    );
    const titles = ["nullifier", "ciphertext R", "hidden C", "new note", "new note"];
    screen.write(indent(table([titles, ...rows.slice(0, SHOWN)])));
    const { secrets, found, size } = await searchSecrets(world, receipts);
    if (found.length > 0) throw new CommandError("LEAKED", `the chain shows ${found.join(", ")}`);
    const count = `${payments.length} payments in ${receipts.length} transactions, ${(size / 1024).toFixed(0)} KB`;
    say(screen, `and ${payments.length - SHOWN} more rows like these: ${count} of calldata and events.`);
    say(screen, `Searched them for ${secrets.join(", ")}: nothing found.`);
    const bundles = wire.seen.filter(({ path }) => path.endsWith("/zk/verify")).map(({ body }) => body as WireBundle);
    const seen = JSON.stringify(bundles).toLowerCase();
    const addresses = [payer.account.address, payer.wallet.shieldedAddress];
    if (addresses.some((address) => seen.includes(address.toLowerCase().slice(2))))
      throw new CommandError("LEAKED", "the service has seen an address of the payer");
    say(
      screen,
      `Of the same ${bundles.length} payments, the service has seen the recipient, the resource, bounds of the amount, ` +
        "and the client's network address, but neither the payer's account nor its shielded address.",
    );
    return {};
  },
};

const restore: Step = {
  title: "The payer's wallet is restored from its 24 words and the chain",
  async play(world) {
    const { payer } = world;
    await waitForAppend(world);
    await payer.wallet.scan();
    const before = payer.wallet.balance();
    payer.wallet = await world.openWallet(payer.words);
    const { total: unread } = payer.wallet.balance();
    await payer.wallet.scan();
    const after = payer.wallet.balance();
    if (after.total !== before.total || after.spendable !== before.spendable)
      throw new CommandError("RESTORE_INCOMPLETE", `restored ${usdc(after.total)}, expected ${usdc(before.total)}`);
    const unspent = payer.wallet.notes().filter(({ state }) => state === "spendable").length;
    return {
      payer: [
        `opened a wallet on an empty store: ${usdc(unread)}`,
        `read the chain: ${usdc(after.total)} in ${unspent} notes, as before`,
      ],
    };
  },
};

const withdraw: Step = {
  title: "The merchant merges its notes and withdraws",
  async play(world) {
    const { service, screen, relayer } = world;
    const { account, wallet } = world.merchant;
    const merged = await progress(screen, "proving the merge", () => wallet.merge());
    await service.withdraw(merged.withdraw);
    await waitForAppend(world);
    // The fee comes out of the withdrawn notes, so the merchant needs no ETH.
    const fee = { amount: RELAYER_FEE, recipient: relayer.address };
    const request = { recipient: account.address, amount: WITHDRAWN, fee };
    const withdrawal = await progress(screen, "proving the withdrawal", () => wallet.withdraw(request));
    await service.withdraw(withdrawal.withdraw);
    await waitForAppend(world);
    await wallet.scan();
    return {
      merchant: [
        `merged ${merged.notes.length} notes into one of ${usdc(merged.output)}`,
        `withdrew ${usdc(WITHDRAWN)} to ${short(account.address)}`,
        `paid the relayer ${usdc(RELAYER_FEE)} and no gas`,
        `${usdc(wallet.balance().total)} remain shielded`,
      ],
    };
  },
};

/** Requests that are paid with tokens. */
const HOURS = 50;

/** Options of the payer's fetch with prepaid tokens. */
const tokenOptions = ({ service, wire }: World, changes: Partial<PrepaidOptions>): WrapOptions => ({
  services: [service.url],
  maxPerRequest: MAX_PER_REQUEST,
  maxPerDay: MAX_WITH_PACK,
  serviceFetch: wire.toService,
  methods: [prepaid({ maxPerHost: HOUR * BigInt(PACK_TOKENS), mirrors: [service.url], ...changes })],
});

const prepay: Step = {
  title: "A pack of prepaid tokens: one payment, then a token for each request",
  async play(world) {
    const { payer, screen } = world;
    const server = assertSet(world.servers, "resource servers")[1]!;
    const options = tokenOptions(world, { buy: false });
    const wish = { origin: server.origin, value: HOUR };
    const pack = await progress(screen, "buying a pack", () => buyPrepaid(fetch, payer.wallet, options, wish));
    const price = HOUR * BigInt(pack.count);
    world.sales.push({ price, goods: `${pack.count} tokens` });
    world.prepaid.bought += price;
    await payer.wallet.scan();
    const before = payer.wallet.balance().total;
    const pay = wrapFetch(fetch, payer.wallet, options);
    const start = performance.now();
    const cities = Array.from({ length: HOURS }, (_, i) => `city${i}`);
    const responses = await Promise.all(cities.map((city) => pay(`${server.origin}/hour/${city}`)));
    const ms = (performance.now() - start) / HOURS;
    const [{ unspent } = { unspent: 0n }] = await listPrepaid(payer.wallet);
    await waitForAppend(world);
    await payer.wallet.scan();
    const served = responses.filter(({ status }) => status === 200).length;
    if (served !== HOURS || unspent !== price - HOUR * BigInt(HOURS) || payer.wallet.balance().total !== before)
      throw new CommandError("NOT_PAID_ONCE", `${served} requests were served, and ${usdc(unspent)} are unspent`);
    world.prepaid.spent += HOUR * BigInt(HOURS);
    say(screen, `${HOURS} requests, each with a token of its own: ${ms.toFixed(0)} ms each.`, "green");
    return {
      payer: [`paid ${usdc(price)} once for ${pack.count} tokens of ${usdc(HOUR)}`, `${usdc(unspent)} are unspent`],
      merchant: ["signed the tokens blind: it cannot link a token to the payment or to another token"],
    };
  },
};

const meter: Step = {
  title: "A request whose price is known afterwards: a token, a charge, and change",
  async play(world) {
    const { payer, screen } = world;
    const server = assertSet(world.servers, "resource servers")[1]!;
    const options = tokenOptions(world, {});
    const [before] = await listPrepaid(payer.wallet);
    const response = await wrapFetch(fetch, payer.wallet, options)(`${server.origin}/outlook/lima`);
    const { goods } = (await response.json()) as Pick<Sale, "goods">;
    // The wallet had no token of this value, so it has bought one with a payment.
    world.sales.push({ price: OUTLOOK, goods });
    world.prepaid.bought += OUTLOOK;
    const { problems } = await mergePrepaid(fetch, payer.wallet, options);
    if (problems.length > 0) throw problems[0];
    const [charged] = await listCharges(payer.wallet);
    const [after] = await listPrepaid(payer.wallet);
    await waitForAppend(world);
    await payer.wallet.scan();
    const { charge = 0n, change = 0n, units = {} } = charged ?? {};
    const isExact = charge === 3n * DAY && charge + change === OUTLOOK && after?.unspent === before!.unspent + change;
    if (response.status !== 200 || !isExact)
      throw new CommandError(
        "NOT_PAID_ONCE",
        `status ${response.status}, ${usdc(charge)} charged, ${usdc(change)} back`,
      );
    world.prepaid.spent += charge;
    const largestFirst = after.change.toSorted((a, b) => Number(b.value - a.value));
    const tokens = largestFirst.map(({ count, value }) => `${count} of ${usdc(value)}`).join(", ");
    say(screen, `${response.status} GET /outlook/lima: "${goods}"`);
    say(
      screen,
      `Token ${usdc(OUTLOOK)}, charge ${usdc(charge)} for ${units["days"]} days, change ${usdc(change)}.`,
      "green",
    );
    return {
      payer: [
        `showed a token of ${usdc(OUTLOOK)}, the most that an outlook costs`,
        `has a signed receipt of ${usdc(charge)}, and new tokens as change: ${tokens}`,
      ],
      merchant: ["signed the change blind: it cannot link it to this request or to the payment"],
    };
  },
};

/** Syncs until the payer's notes of the second deposit are in the set. */
async function waitForSet({ screen }: World, origins: Origins): Promise<void> {
  const isIn = (amount: bigint) =>
    origins.status()[0]?.notes.some(({ note, standing }) => note.amount === amount && standing.in === "set") === true;
  await progress(screen, "the curator accepts the deposit and signs a head", async () => {
    for (const end = Date.now() + APPEND_TIMEOUT_MS; ; await wait(POLL_INTERVAL_MS)) {
      const { problems } = await origins.sync({ claims: false });
      if (ADDED.every(isIn)) return;
      if (Date.now() > end) throw problems[0]?.error ?? new CommandError("NO_ORIGIN", "the deposit is not in the set");
    }
  });
}

const showOrigin: Step = {
  title: "A server asks where the money comes from: the payer shows it",
  async play(world) {
    const { payer, service, wire, screen, set, cleanup } = world;
    await payer.wallet.fund({ amounts: ADDED, account: payer.account, service });
    const added = ADDED.reduce((sum, amount) => sum + amount, 0n);
    world.moved.in += added;
    const origins = await Origins.open(payer.wallet);
    world.origins = origins;
    cleanup.add(async () => origins.close());
    // The demo's pool has few notes, and so a small crowd.
    await origins.follow({ curator: set.key, name: set.name, url: set.curator, minimumCrowd: 0 });
    await waitForSet(world, origins);
    const pay = wrapFetch(wire.toServers, payer.wallet, {
      services: [service.url],
      maxPerRequest: MAX_PER_REQUEST,
      serviceFetch: wire.toService,
      attachments: [showOrigins({ origins, missing: "refuse" })],
    });
    const [news] = assertSet(world.servers, "resource servers");
    const response = await pay(`${news?.origin}/articles/6`);
    const sale = (await response.json()) as Sale;
    say(screen, `${response.status} ${JSON.stringify(sale)}`);
    if (response.status !== 200 || sale.origin?.[0] !== set.name)
      throw new CommandError("NO_ORIGIN", `status ${response.status}, and the server saw no origin in ${set.name}`);
    world.sales.push({ price: BigInt(sale.paid), goods: sale.goods });
    return {
      payer: [
        `deposited ${usdc(added)}; its wallet follows the set ${set.name} of the curator ${short(set.key)}`,
        "proved that the note it spent is in the set, without saying which",
      ],
      merchant: [
        `its handler read payment.origin: the money descends only from deposits that ${short(set.key)} accepts`,
        "asks, and serves payments without an origin too",
      ],
    };
  },
};

const checkOrigin: Step = {
  title: "The payer withdraws; its bank checks where the money comes from",
  async play(world) {
    const { payer, service, screen, set, artifacts, provider, chain, pool } = world;
    const origins = assertSet(world.origins, "follower of the curator's set");
    const { address } = payer.account;
    const withdrawal = await progress(screen, "proving the withdrawal", () =>
      payer.wallet.withdraw({ recipient: address, amount: CASHED }),
    );
    const { txSignature } = await service.withdraw(withdrawal.withdraw);
    world.moved.out += CASHED;
    await payer.wallet.scan();
    const own = { curator: parseAddress(set.key), name: set.name };
    const evidence = await progress(screen, "making the evidence", () =>
      origins.evidence(own, txSignature as `0x${string}`),
    );
    // The bank has the file, the keys, a node, and the set that it chose.
    const { event } = await assertEvidence(encodeEvidence(evidence), {
      set: parseSet({ chainId: chain.id, pool, ...own }),
      verifier: createVerifier({ artifacts: await loadArtifacts({ folder: artifacts }) }),
      chain: ethersChain(provider),
    });
    if (
      event?.type !== "withdrawn" ||
      event.amount !== CASHED ||
      event.recipient.toLowerCase() !== address.toLowerCase()
    )
      throw new CommandError("NO_ORIGIN", "the evidence is not about the withdrawal");
    await waitForAppend(world);
    say(
      screen,
      `The evidence is valid: ${usdc(event.amount)} to ${short(event.recipient)}, only from accepted deposits.`,
      "green",
    );
    say(
      screen,
      "An origin survives many hands: packages/origins/test/wallet/chain.test.ts shows it after a chain of 20 payments, " +
        "three merges and a withdrawal.",
    );
    return {
      payer: [
        `withdrew ${usdc(CASHED)} to ${short(address)}, and gave its bank a file about this transaction`,
        "showed neither its deposit nor any other payment",
      ],
    };
  },
};

export const story: readonly Step[] = [
  deposit,
  link,
  challenge,
  payOnce,
  payTen,
  payNumber,
  read,
  inspect,
  restore,
  withdraw,
  prepay,
  meter,
  showOrigin,
  checkOrigin,
];
