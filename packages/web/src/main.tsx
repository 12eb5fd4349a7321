import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { ErrorBoundary, PageFailed } from "./components/error-boundary.tsx";
import "./styles/main.css";

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <ErrorBoundary fallback={(error) => <PageFailed error={error} />}>
      <App />
    </ErrorBoundary>
  </StrictMode>,
);
