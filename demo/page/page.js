// The demo page: polls /stats and shows what comes.

const pollMs = 1000;
const historyMax = 60;
const loadConcurrency = 32;

const byId = (id) => document.getElementById(id);
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const fine = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

const history = [];
let previous;

const count = (value) => (value < 1e6 ? whole.format(value) : short.format(value));
const mebibytes = (bytes) => `${fine.format(bytes / 1024 ** 2)} MiB`;

function duration(ms) {
  const seconds = Math.floor(ms / 1000);
  const pad = (value) => String(value).padStart(2, '0');
  return `${Math.floor(seconds / 3600)}:${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`;
}

/** What changed between two polls, as rates. */
function ratesBetween(before, now) {
  const seconds = (now.process.uptimeMs - before.process.uptimeMs) / 1000;
  if (!(seconds > 0)) return {};
  const requests = now.engine.requests - before.engine.requests;
  const events = now.engine.events - before.engine.events;
  const batches = now.engine.batches - before.engine.batches;
  return {
    requestsPerSecond: requests / seconds,
    eventsPerBatch: batches > 0 ? events / batches : undefined,
    cpuPercent: (now.process.cpuMicros - before.process.cpuMicros) / seconds / 1e4,
  };
}

/** Label, text and place of each tile; a figure that the engine does not give has no tile. */
function figuresOf(stats, rates) {
  const { engine, process } = stats;
  const rows = [
    ['Requests', engine.requests, count],
    ['Requests a second', rates.requestsPerSecond, count],
    ['Batches', engine.batches, count],
    ['Events a batch, now', rates.eventsPerBatch, (value) => fine.format(value)],
    ['Events a batch, ever', engine.events / engine.batches, (value) => fine.format(value)],
    ['Connections', engine.connections, count],
    ['CPU', rates.cpuPercent, (value) => `${whole.format(value)} %`],
    ['Memory', process.residentBytes, mebibytes],
    ['JavaScript heap', process.heapBytes, mebibytes],
    ['Up', process.uptimeMs, duration],
  ];
  return rows
    .map(([label, value, format], order) => ({ label, value, format, order }))
    .filter(({ value }) => Number.isFinite(value))
    .map(({ label, value, format, order }) => ({ label, text: format(value), order }));
}

function showFigures(figures) {
  const list = byId('figures');
  for (const { label, text, order } of figures) {
    const id = `figure-${label.replace(/\W+/g, '-')}`;
    let tile = byId(id);
    if (!tile) {
      tile = document.createElement('div');
      tile.id = id;
      tile.style.order = order;
      const term = document.createElement('dt');
      term.textContent = label;
      tile.append(term, document.createElement('dd'));
      list.append(tile);
    }
    tile.lastElementChild.textContent = text;
  }
}

function showHistory() {
  const width = 600;
  const height = 120;
  const top = Math.max(1, ...history);
  const points = history.map((value, index) => {
    const x = width - ((history.length - 1 - index) * width) / (historyMax - 1);
    return `${x.toFixed(1)},${(height - 4 - (value / top) * (height - 12)).toFixed(1)}`;
  });
  if (points.length < 2) return;
  const line = `M${points.join('L')}`;
  const start = points[0].split(',')[0];
  byId('line').setAttribute('d', line);
  byId('area').setAttribute('d', `${line}L${width},${height}L${start},${height}Z`);
  byId('chart-text').textContent =
    `now ${count(history.at(-1))}, at most ${count(top)} in the last minute`;
}

function showState(text, kind) {
  const state = byId('state');
  state.className = kind;
  // A status is read aloud when it changes, so it must not change each second.
  if (state.textContent !== text) state.textContent = text;
}

async function poll() {
  try {
    const response = await fetch('/stats', { cache: 'no-store' });
    const stats = await response.json();
    const rates = previous ? ratesBetween(previous, stats) : {};
    previous = stats;
    if (Number.isFinite(rates.requestsPerSecond)) history.push(rates.requestsPerSecond);
    if (history.length > historyMax) history.shift();
    showFigures(figuresOf(stats, rates));
    showHistory();
    showState(`live: Node.js ${stats.process.node}, process ${stats.process.pid}`, 'live');
  } catch {
    previous = undefined;
    showState('the server does not answer; trying again', 'lost');
  }
  setTimeout(poll, pollMs);
}

async function sendLoad(total) {
  const startMs = performance.now();
  let sent = 0;
  let good = 0;
  async function worker() {
    while (sent < total) {
      sent += 1;
      const response = await fetch('/json', { cache: 'no-store' });
      if ((await response.json()).ok === true) good += 1;
    }
  }
  await Promise.all(Array.from({ length: Math.min(loadConcurrency, total) }, worker));
  return { good, ms: performance.now() - startMs };
}

byId('load').addEventListener('submit', async (event) => {
  event.preventDefault();
  const button = event.target.querySelector('button');
  const result = byId('load-result');
  const total = byId('count').valueAsNumber;
  button.disabled = true;
  result.textContent = 'sending';
  try {
    const { good, ms } = await sendLoad(total);
    result.textContent = `${good} of ${total} answered in ${whole.format(ms)} ms`;
  } catch (error) {
    result.textContent = `stopped: ${error.message}`;
  }
  button.disabled = false;
});

poll();
