// For each alert: values of series with which it fires, and with which it must not, as promtool takes them.

export interface AlertCase {
  /** Values by series, one each minute, with which the alert fires. */
  readonly fires: Readonly<Record<string, string>>;
  /** Values with which it does not fire. */
  readonly quiet: Readonly<Record<string, string>>;
  /** Labels of the alert, beside its severity. */
  readonly labels: Readonly<Record<string, string>>;
  /** The value that the summary shows. */
  readonly value?: string;
}

const MINUTES = 120;
const steady = (value: number) => `${value}+0x${MINUTES}`;
const growing = (by: number) => `0+${by}x${MINUTES}`;
const on = { instance: "a" };

function unready(check: string, code: string): AlertCase {
  const series = (other: string) => `sotto_unready_cause{job="sotto",instance="a",check="${other}",code="${code}"}`;
  return {
    fires: { [series(check)]: steady(1) },
    // A short failure, one of another check, and one of another program.
    quiet: {
      [series(check)]: `1 _x${MINUTES}`,
      [series(check === "chain" ? "fees" : "chain")]: steady(1),
      [series(check).replace('job="sotto"', 'job="curator"')]: steady(1),
    },
    labels: { ...on, job: "sotto", check, code },
  };
}

/** One series, and its values with which the alert fires and does not. */
const one = (series: string, fires: string, quiet: string, labels: AlertCase["labels"], value?: string): AlertCase => ({
  fires: { [series]: fires },
  quiet: { [series]: quiet },
  labels,
  ...(value === undefined ? {} : { value }),
});

/** A series compared with a limit that another one shows. */
const limited = (
  [series, fires, quiet]: readonly [string, number, number],
  [limit, of]: readonly [string, number],
): AlertCase => ({
  fires: { [series]: steady(fires), [limit]: steady(of) },
  quiet: { [series]: steady(quiet), [limit]: steady(of) },
  labels: on,
  value: String(fires),
});

const leader = (first: number, second: number) => ({
  'sotto_relayer_leader{instance="a"}': steady(first),
  'sotto_relayer_leader{instance="b"}': steady(second),
});
const versions = (second: string) => ({
  'sotto_build_info{job="sotto",instance="a",version="1.0.0"}': steady(1),
  [`sotto_build_info{job="sotto",instance="b",version="${second}"}`]: steady(1),
});
const settled = (fast: number, slow: number) => ({
  'sotto_relayer_settle_seconds_bucket{instance="a",kind="payment",le="90"}': growing(fast),
  'sotto_relayer_settle_seconds_bucket{instance="a",kind="payment",le="120"}': growing(fast + slow),
  'sotto_relayer_settle_seconds_bucket{instance="a",kind="payment",le="+Inf"}': growing(fast + slow),
});
const requests = (route: string, good: number, bad: number) => ({
  [`sotto_http_request_seconds_count{job="sotto",instance="a",route="${route}",status="200"}`]: growing(good),
  [`sotto_http_request_seconds_count{job="sotto",instance="a",route="${route}",status="503"}`]: growing(bad),
});
const node = { ...on, node: "0", host: "rpc.example" };
const ofNode = 'instance="a",node="0",host="rpc.example"';
const waits = 'sotto_operation_oldest_age_seconds{instance="a",kind="payment",state="queued"}';

const account = { account: "0x01" };
const fault = 'sotto_relayer_account_fault{instance="a",account="0x01",code="SIGNER_REFUSED"}';

export const ALERT_CASES: Readonly<Record<string, AlertCase>> = {
  SottoDown: one('up{instance="a",job="sotto"}', steady(0), steady(1), { ...on, job: "sotto" }),
  SottoNoNode: unready("chain", "NODE_UNREACHABLE"),
  SottoNoDatabase: unready("store", "STORE_UNAVAILABLE"),
  SottoArtifactsDamaged: unready("artifacts", "ARTIFACT_DAMAGED"),
  SottoNewestBlockOld: unready("head", "HEAD_TOO_OLD"),
  SottoGasTooExpensive: unready("fees", "FEES_TOO_HIGH"),
  SottoSignerFails: unready("signer", "SIGNER_UNAVAILABLE"),
  SottoBalanceTooLow: unready("relayer", "RELAYER_BALANCE_LOW"),
  SottoBudgetSpent: unready("budget", "GAS_BUDGET_EXHAUSTED"),
  SottoRelayerStuck: unready("leader", "RELAYER_STUCK"),
  SottoExtensionFails: unready("phone", "STORE_UNAVAILABLE"),
  SottoNoLeader: { fires: leader(0, 0), quiet: leader(1, 0), labels: {} },
  SottoSeveralLeaders: { fires: leader(1, 1), quiet: leader(0, 1), labels: {}, value: "2" },
  // The age of a payment that waits grows.
  SottoPaymentsWait: one(waits, steady(120), steady(80), { state: "queued" }, "120"),
  SottoPaymentsFail: {
    fires: { 'sotto_relayer_failed_total{instance="a",kind="payment",reason="EXPIRED"}': growing(1) },
    // Any payer can spend a note elsewhere.
    quiet: { 'sotto_relayer_failed_total{instance="a",kind="payment",reason="NULLIFIER_SPENT"}': growing(9) },
    labels: { reason: "EXPIRED" },
  },
  SottoSettlesSlowly: { fires: settled(1, 9), quiet: settled(19, 1), labels: {} },
  // A node that is tried again now and then.
  SottoNodePaused: one(`sotto_node_paused{${ofNode}}`, `${"1 1 1 0 ".repeat(30)}`, steady(0), node),
  SottoNodeBehind: one(`sotto_node_lag_blocks{${ofNode}}`, steady(60), `${"0 9 ".repeat(60)}`, node, "60"),
  SottoAccountFails: one(fault, steady(1), `1 _x${MINUTES}`, { ...on, ...account, code: "SIGNER_REFUSED" }),
  SottoBalanceFalls: {
    ...limited(
      ['sotto_relayer_balance_wei{instance="a",account="0x01"}', 25, 31],
      ['sotto_relayer_least_balance_wei{instance="a"}', 10],
    ),
    labels: { ...on, ...account },
  },
  SottoBudgetFalls: limited(
    ['sotto_relayer_gas_today_wei{instance="a"}', 90, 70],
    ['sotto_relayer_gas_budget_wei{instance="a"}', 100],
  ),
  SottoManyHeldRequests: limited(
    ['sotto_settle_held{instance="a"}', 1_900, 500],
    ['sotto_settle_held_max{instance="a"}', 2_000],
  ),
  SottoFlood: limited(
    ['sotto_engine_waiting_proofs{instance="a",clients="suspect"}', 900, 100],
    ['sotto_engine_waiting_proofs_max{instance="a"}', 1_024],
  ),
  SottoProofsRefused: one('sotto_engine_refused_total{instance="a"}', growing(5), steady(17), on),
  SottoServerErrors: {
    fires: requests("/zk/verify", 80, 20),
    // Load balancers ask a replica that is not ready.
    quiet: { ...requests("/zk/readyz", 0, 20), ...requests("/zk/verify", 999, 1) },
    labels: { route: "/zk/verify" },
  },
  SottoReorganizations: one('sotto_relayer_reorganisations_total{instance="a"}', growing(1), steady(3), on),
  SottoTransactionsStuck: one(
    'sotto_relayer_replacements_total{instance="a",kind="settle"}',
    growing(1),
    steady(90),
    {},
  ),
  SottoRestarts: one('sotto_process_start_time_seconds{job="sotto",instance="a"}', growing(60), steady(1), {
    ...on,
    job: "sotto",
  }),
  SottoReloadRefused: one('sotto_config_reload_success{instance="a",job="sotto"}', steady(0), steady(1), {
    ...on,
    job: "sotto",
  }),
  SottoVersionsDiffer: { fires: versions("1.1.0"), quiet: versions("1.0.0"), labels: {}, value: "2" },
};
