// One vis-network a frame, kept over reruns: data is compared and only differences are applied, so nothing jumps.
const kept = new WeakMap();
const READABLE = 0.62; // boxes are read like a list: never shown smaller than this at first
const TREE = 0.9; // the same for those of a tree
const PLAIN = new Set(['parent', 'sibling']); // edges without a direction that anybody would ask for

function whenLoaded(then) {
  if (globalThis.vis && globalThis.vis.Network) then();
  else setTimeout(() => whenLoaded(then), 10);
}

function apply(set, wanted, known) {
  const fresh = wanted.filter((item) => known.get(item.id) !== JSON.stringify(item));
  const ids = new Set(wanted.map((item) => item.id));
  const gone = set.getIds().filter((id) => !ids.has(id));
  gone.forEach((id) => known.delete(id));
  fresh.forEach((item) => known.set(item.id, JSON.stringify(item)));
  if (gone.length) set.remove(gone);
  if (fresh.length) set.update(fresh);
}

function visNode(node, data) {
  const filled = !node.hollow && !data.boxed;
  const border = node.strong && !data.boxed ? data.colours.text : node.colour;
  const fill = { background: filled ? node.colour : data.colours.back, border };
  const made = {
    id: node.id, title: node.tip, x: node.x, y: node.y, size: node.size,
    color: { ...fill, highlight: fill, hover: fill },
    shapeProperties: { borderDashes: node.hollow && !node.soft ? [4, 3] : false, borderRadius: 4 },
    borderWidth: node.strong ? 4 : 2, borderWidthSelected: 5,
  };
  if (!data.boxed) return { ...made, shape: 'dot', label: undefined };
  return {
    ...made, shape: 'box', label: node.label, margin: 6, widthConstraint: { minimum: data.boxed, maximum: data.boxed },
    borderWidth: node.frame, font: { align: 'left', size: 14, color: data.colours.text, face: data.face },
  };
}

function visEdge(edge, data) {
  const across = { enabled: true, type: 'cubicBezier', forceDirection: 'horizontal', roundness: 0.5 };
  return {
    id: `${edge.from}\n${edge.to}\n${edge.relation}`, from: edge.from, to: edge.to, title: edge.tip, width: edge.width,
    color: { color: edge.colour, opacity: edge.faint ? 0.22 : 0.35 + Math.min(0.4, edge.width / 16) }, dashes: edge.dashed ? [5, 4] : false,
    arrows: { to: { enabled: !PLAIN.has(edge.relation), scaleFactor: 0.45 } },
    ...(data.boxed ? { smooth: across } : {}),
  };
}

function options(colours) {
  return {
    physics: { enabled: false },
    layout: { improvedLayout: false },
    interaction: { hover: true, tooltipDelay: 120, multiselect: false, selectConnectedEdges: false, hideEdgesOnDrag: true, hideEdgesOnZoom: true, keyboard: { enabled: true, bindToWindow: false } },
    nodes: { shape: 'dot', borderWidth: 2 },
    edges: { smooth: { enabled: true, type: 'curvedCW', roundness: 0.12 }, hoverWidth: 1, selectionWidth: 1.5 },
  };
}

// Labels keep their size on the screen and never cover each other or a node: the most important are placed first, one that
// finds no room waits for a closer look. Where there is room left, a label grows by the title.
function drawLabels(state, ctx) {
  const { network, labels, data } = state;
  if (!labels.length) return;
  const scale = network.getScale();
  const low = network.DOMtoCanvas({ x: 0, y: 0 });
  const high = network.DOMtoCanvas({ x: state.canvas.clientWidth, y: state.canvas.clientHeight });
  const spots = [];
  for (const label of labels) {
    const body = network.body.nodes[label.id];
    if (!body || body.x < low.x || body.x > high.x || body.y < low.y || body.y > high.y) continue;
    spots.push({ label, x: body.x * scale, y: body.y * scale, r: body.options.size * scale });
  }
  const taken = spots.map((s) => Object.assign([s.x - s.r, s.y - s.r, s.x + s.r, s.y + s.r], { soft: s.label.soft }));
  const edge = [low.x * scale, low.y * scale, high.x * scale, high.y * scale];
  taken.push([edge[2] - 178, edge[1], edge[2], edge[1] + 44]); // the buttons
  const free = (box, own, pushy) =>
    box[0] >= edge[0] && box[2] <= edge[2] && box[1] >= edge[1] && box[3] <= edge[3] &&
    taken.every((t) => t === own || (pushy && t.soft) || box[2] <= t[0] || box[0] >= t[2] || box[3] <= t[1] || box[1] >= t[3]);
  const size = (label) => (label.soft ? 12 : 14);
  const font = (label) => `${label.soft || data.sided ? 400 : 600} ${size(label)}px ${data.face}`;
  const measure = (text, label) => {
    const key = size(label) + text;
    if (!state.widths.has(key)) {
      ctx.font = font(label);
      state.widths.set(key, ctx.measureText(text).width);
    }
    return state.widths.get(key);
  };
  const boxes = ({ x, y, r, label }, text) => {
    const w = measure(text, label) + 4, h = size(label) + 3;
    const below = [x - w / 2, y + r + 2, x + w / 2, y + r + 2 + h];
    const above = [x - w / 2, y - r - 2 - h, x + w / 2, y - r - 2];
    const right = [x + r + 3, y - h / 2, x + r + 3 + w, y + h / 2];
    const left = [x - r - 3 - w, y - h / 2, x - r - 3, y + h / 2];
    const corners = [[1, 1], [-1, 1], [1, -1], [-1, -1]].map(([across, down]) => {
      const [cx, cy] = [x + across * (r * 0.8 + 2), y + down * (r * 0.8 + 2)];
      return [across > 0 ? cx : cx - w, down > 0 ? cy : cy - h, across > 0 ? cx + w : cx, down > 0 ? cy + h : cy];
    });
    const beside = Math.abs(x / scale) < 100 ? [below, above, right, left] : x < 0 ? [left, right, below, above] : [right, left, below, above];
    return [...(data.sided ? beside : [below, right, left, above]), ...corners];
  };
  const always = new Set([state.hover, ...network.getSelectedNodes()]);
  const order = [...spots.filter((s) => always.has(s.label.id)), ...spots.filter((s) => !always.has(s.label.id))];
  const placed = [];
  for (const spot of order) {
    const tries = boxes(spot, spot.label.label);
    const pushy = !spot.label.soft && ((b) => free(b, null, true)); // rather over a hollow node than no name
    const box = tries.find((b) => free(b)) || (pushy && tries.find(pushy)) || (always.has(spot.label.id) ? tries[0] : null);
    if (!box) continue;
    taken.push(box);
    placed.push({ spot, box, text: spot.label.label });
  }
  for (const one of placed) {
    if (!one.spot.label.more) continue;
    const box = boxes(one.spot, one.spot.label.more).find((b) => free(b, one.box));
    if (!box) continue;
    taken[taken.indexOf(one.box)] = box;
    Object.assign(one, { box, text: one.spot.label.more });
  }
  ctx.save();
  ctx.scale(1 / scale, 1 / scale);
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  ctx.lineJoin = 'round';
  ctx.lineWidth = 4;
  ctx.strokeStyle = data.colours.back;
  for (const { spot, box, text } of placed) {
    ctx.font = font(spot.label);
    ctx.fillStyle = spot.label.soft ? data.colours.soft : data.colours.text;
    ctx.strokeText(text, box[0] + 2, (box[1] + box[3]) / 2);
    ctx.fillText(text, box[0] + 2, (box[1] + box[3]) / 2);
  }
  ctx.restore();
  state.written = placed.map((p) => ({ id: p.spot.label.id, text: p.text, box: p.box }));
}

function fit(state) {
  const { network, canvas, data } = state;
  if (!data.boxed) {
    network.fit({ animation: false, maxZoomLevel: 1.4 });
    return;
  }
  const half = [data.boxed / 2 + 14, 24];
  const xs = data.nodes.map((n) => n.x), ys = data.nodes.map((n) => n.y);
  const below = data.leftmost ? 0 : 44; // room for the buttons
  const low = [Math.min(...xs) - half[0], Math.min(...ys) - half[1] - below], high = [Math.max(...xs) + half[0], Math.max(...ys) + half[1]];
  const room = [canvas.clientWidth, canvas.clientHeight];
  const whole = Math.min(1.1, room[0] / (high[0] - low[0]), room[1] / (high[1] - low[1]));
  const scale = Math.max(data.leftmost ? TREE : READABLE, whole);
  // Begins at its upper left corner, as a page does; a result that fits stands in the middle.
  const middle = (k) => ((high[k] - low[k]) * scale > room[k] || k === 1 || data.leftmost ? low[k] + room[k] / 2 / scale : (low[k] + high[k]) / 2);
  network.moveTo({ position: { x: middle(0), y: middle(1) }, scale, animation: false });
}

function build(canvas, bar, data) {
  const state = {
    nodes: new vis.DataSet(), edges: new vis.DataSet(), knownNodes: new Map(), knownEdges: new Map(), widths: new Map(),
    labels: [], written: [], hover: null, view: null, fly: null, colours: '', send: null, canvas, data,
  };
  apply(state.nodes, data.nodes.map((n) => visNode(n, data)), state.knownNodes);
  apply(state.edges, data.edges.map((e) => visEdge(e, data)), state.knownEdges);
  state.network = new vis.Network(canvas, { nodes: state.nodes, edges: state.edges }, options(data.colours));
  state.network.on('afterDrawing', (ctx) => drawLabels(state, ctx));
  state.network.on('hoverNode', (event) => { state.hover = event.node; });
  state.network.on('blurNode', () => { state.hover = null; });
  const say = (what, node) => state.send('click', [what, node]);
  let timer = null;
  state.network.on('click', (event) => {
    clearTimeout(timer);
    const [node] = event.nodes;
    if (!node) return;
    if (event.event.srcEvent.shiftKey) say('unfold', node);
    else timer = setTimeout(() => say('select', node), 250); // a double click is no two clicks
  });
  // The browser's own double click: that of the library is lost where drawing takes longer than the time between two clicks.
  canvas.addEventListener('dblclick', (event) => {
    clearTimeout(timer);
    const box = canvas.getBoundingClientRect();
    const node = state.network.getNodeAt({ x: event.clientX - box.left, y: event.clientY - box.top });
    if (node !== undefined) say('around', node);
  });
  canvas.addEventListener('keydown', (event) => {
    const chosen = state.network.getSelectedNodes()[0];
    const what = event.key === 'Enter' ? 'around' : event.key === 'o' ? 'unfold' : '';
    if (chosen && what) say(what, chosen);
  });
  const button = (text, title, act) => {
    const made = document.createElement('button');
    made.type = 'button';
    made.textContent = text;
    made.title = title;
    made.setAttribute('aria-label', title);
    made.onclick = act;
    bar.append(made);
  };
  button('Fit', 'Show the whole picture', () => state.network.fit({ animation: false }));
  button('+', 'Zoom in', () => state.network.moveTo({ scale: state.network.getScale() * 1.3 }));
  button('−', 'Zoom out', () => state.network.moveTo({ scale: state.network.getScale() / 1.3 }));
  button('PNG', 'Save the picture as PNG', () => {
    const source = canvas.querySelector('canvas');
    const copy = document.createElement('canvas');
    copy.width = source.width;
    copy.height = source.height;
    const draw = copy.getContext('2d');
    draw.fillStyle = state.data.colours.back;
    draw.fillRect(0, 0, copy.width, copy.height);
    draw.drawImage(source, 0, 0);
    const link = document.createElement('a');
    link.href = copy.toDataURL('image/png');
    link.download = 'normrag-graph.png';
    link.click();
  });
  return state;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const frame = parentElement.querySelector('.frame');
  const canvas = parentElement.querySelector('.canvas');
  const bar = parentElement.querySelector('.bar');
  frame.style.height = data.height + 'px';
  frame.style.background = data.colours.back;
  canvas.setAttribute('aria-label', data.label);
  data.face = getComputedStyle(frame).fontFamily;
  whenLoaded(() => {
    if (!frame.isConnected) return;
    let state = kept.get(frame);
    if (!state) {
      state = build(canvas, bar, data);
      document.fonts.ready.then(() => { state.widths.clear(); state.network.redraw(); });
      kept.set(frame, state);
      frame.network = state.network;
      frame.written = () => state.written;
    } else {
      apply(state.nodes, data.nodes.map((n) => visNode(n, data)), state.knownNodes);
      apply(state.edges, data.edges.map((e) => visEdge(e, data)), state.knownEdges);
    }
    state.send = setTriggerValue;
    state.data = data;
    state.labels = data.boxed ? [] : data.nodes;
    if (state.face !== data.face) state.widths.clear();
    state.face = data.face;
    if (state.view !== data.view) {
      state.view = data.view;
      fit(state);
    }
    if (data.fly && data.fly !== state.fly && state.nodes.get(data.fly)) {
      state.network.focus(data.fly, { scale: Math.max(1.1, state.network.getScale()), animation: false });
    }
    state.fly = data.fly;
    const known = data.selected && state.nodes.get(data.selected);
    state.network.setSelection({ nodes: known ? [data.selected] : [], edges: [] });
    state.network.redraw();
  });
  return () => {
    const state = kept.get(frame);
    if (state && !frame.isConnected) {
      state.network.destroy();
      kept.delete(frame);
    }
  };
}
