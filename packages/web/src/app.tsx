import { Suspense, useEffect, useState } from "react";
import { Link, Redirect, Route, Router, Switch, useLocation } from "wouter";
import { ConfigForm } from "./components/config-form.tsx";
import { ErrorBoundary, PageFailed } from "./components/error-boundary.tsx";
import { ErrorMessage } from "./components/error-message.tsx";
import { Verbatim } from "./components/verbatim.tsx";
import { type HostConfig, loadConfig } from "./config.ts";
import { engine, useEngine } from "./engine/page.ts";
import { ConfigContext } from "./hooks/use-config.ts";
import { useRoutePath, useRouteSearch } from "./lib/route.ts";
import { PAGES } from "./pages/list.ts";

type Loaded = { readonly config: HostConfig | undefined } | { readonly error: unknown };

export function App() {
  const [loaded, setLoaded] = useState<Loaded>();
  useEffect(() => {
    loadConfig().then(
      (config) => setLoaded({ config }),
      (error: unknown) => setLoaded({ error }),
    );
  }, []);
  const config = loaded !== undefined && "config" in loaded ? loaded.config : undefined;
  useEffect(() => {
    if (config !== undefined) void engine().start(config);
  }, [config]);
  return (
    <Router hook={useRoutePath} searchHook={useRouteSearch}>
      <div className="app">
        <Topbar network={config?.name} />
        <main id="content" tabIndex={-1}>
          {loaded === undefined && <Loading what="the configuration" />}
          {loaded !== undefined && "error" in loaded && <ErrorMessage error={loaded.error} />}
          {loaded !== undefined && "config" in loaded && loaded.config === undefined && (
            <ConfigForm onEntered={(entered) => setLoaded({ config: entered })} />
          )}
          {config !== undefined && (
            <ConfigContext value={config}>
              <Pages />
            </ConfigContext>
          )}
        </main>
        <footer>
          sotto keeps keys and payments in this browser. It talks to a node, to the service, to the merchants that you
          pay and to the curators that you follow, and to nobody else.
        </footer>
      </div>
    </Router>
  );
}

const Loading = ({ what }: { readonly what: string }) => (
  <div className="empty" role="status">
    <span className="spinner" /> <span>{`Loading ${what}`}</span>
  </div>
);

function Pages() {
  const [location] = useLocation();
  // A page that fails does not break the others.
  const page = PAGES.find(({ path }) => location.startsWith(path))?.path;
  return (
    <ErrorBoundary key={page} fallback={(error) => <PageFailed error={error} />}>
      <Suspense fallback={<Loading what="the page" />}>
        <Switch>
          {PAGES.map(({ path, Page }) => (
            <Route key={path} path={`${path}/*?`} component={Page} />
          ))}
          <Redirect to={PAGES[0]!.path} />
        </Switch>
      </Suspense>
    </ErrorBoundary>
  );
}

function Topbar({ network }: { readonly network: string | undefined }) {
  const [path] = useLocation();
  const state = useEngine();
  const lost = state.phase === "failed" || (state.phase === "open" && state.wallet.problem !== undefined);
  const live = state.phase === "open" ? "good" : undefined;
  return (
    <>
      <button type="button" className="skip button" onClick={() => document.getElementById("content")?.focus()}>
        Skip to the content
      </button>
      <header className="topbar">
        <div className="topbar-inner">
          <Link href="/wallet" className="brand">
            <svg viewBox="0 0 32 32" aria-hidden="true">
              <rect width="32" height="32" rx="8" fill="#0d6b5b" />
              <path
                d="M8 12c2.7-3 5.3-3 8 0s5.3 3 8 0M8 20c2.7-3 5.3-3 8 0s5.3 3 8 0"
                fill="none"
                stroke="#fff"
                strokeWidth="2.5"
                strokeLinecap="round"
              />
            </svg>
            <Verbatim>sotto</Verbatim>
          </Link>
          <nav className="nav" aria-label="Pages">
            {PAGES.map(({ path: page, title }) => (
              <Link key={page} href={page} aria-current={path.startsWith(page) ? "page" : undefined}>
                {title}
              </Link>
            ))}
          </nav>
          {network !== undefined && (
            <span className="state network" data-tone={lost ? "bad" : live}>
              <Verbatim>{network}</Verbatim>
              {state.phase === "open" && <span className="number">{`block ${state.wallet.height}`}</span>}
            </span>
          )}
        </div>
      </header>
    </>
  );
}
