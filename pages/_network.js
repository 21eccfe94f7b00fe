// One vis-network a frame, kept over reruns: data is compared and only differences are applied, so nothing jumps.
const kept = new WeakMap();

function whenLoaded(then) {
  if (globalThis.vis && globalThis.vis.Network) then();
  else setTimeout(() => whenLoaded(then), 30);
}

function apply(set, wanted) {
  const ids = new Set(wanted.map((item) => item.id));
  const gone = set.getIds().filter((id) => !ids.has(id));
  if (gone.length) set.remove(gone);
  set.update(wanted);
}

function options(colours) {
  return {
    physics: { enabled: false },
    layout: { improvedLayout: false },
    interaction: { hover: true, tooltipDelay: 120, multiselect: false, selectConnectedEdges: false, hideEdgesOnDrag: true, keyboard: { enabled: true, bindToWindow: false } },
    nodes: { shape: 'dot', borderWidth: 2, font: { color: colours.text, size: 13, strokeWidth: 4, strokeColor: colours.back } },
    edges: { smooth: { enabled: true, type: 'curvedCW', roundness: 0.12 }, arrows: { to: { enabled: true, scaleFactor: 0.45 } }, hoverWidth: 1, selectionWidth: 1.5 },
  };
}

function build(frame, canvas, bar, data) {
  const state = { nodes: new vis.DataSet(), edges: new vis.DataSet(), view: null, fly: null, colours: '', send: null };
  apply(state.nodes, data.nodes);
  apply(state.edges, data.edges);
  state.network = new vis.Network(canvas, { nodes: state.nodes, edges: state.edges }, options(data.colours));
  let timer = null;
  state.network.on('click', (event) => {
    if (!event.nodes.length) return;
    clearTimeout(timer);
    timer = setTimeout(() => state.send('select', event.nodes[0]), 230); // a double click is not two clicks
  });
  state.network.on('doubleClick', (event) => {
    clearTimeout(timer);
    if (event.nodes.length) state.send('open', event.nodes[0]);
  });
  canvas.addEventListener('keydown', (event) => {
    const chosen = state.network.getSelectedNodes()[0];
    if (event.key === 'Enter' && chosen) state.send(event.shiftKey ? 'open' : 'select', chosen);
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
    draw.fillStyle = JSON.parse(state.colours).back;
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
  whenLoaded(() => {
    if (!frame.isConnected) return;
    let state = kept.get(frame);
    if (!state) {
      state = build(frame, canvas, bar, data);
      kept.set(frame, state);
      frame.network = state.network;
    } else {
      apply(state.nodes, data.nodes);
      apply(state.edges, data.edges);
    }
    state.send = setTriggerValue;
    const colours = JSON.stringify(data.colours);
    if (state.colours && state.colours !== colours) state.network.setOptions(options(data.colours));
    state.colours = colours;
    if (state.view !== data.view) {
      state.view = data.view;
      state.network.fit({ animation: false, maxZoomLevel: 1.2 });
    }
    if (data.fly && data.fly !== state.fly && state.nodes.get(data.fly)) {
      state.network.focus(data.fly, { scale: 1.1, animation: false });
    }
    state.fly = data.fly;
    const known = data.selected && state.nodes.get(data.selected);
    state.network.setSelection({ nodes: known ? [data.selected] : [], edges: [] });
  });
  return () => {
    const state = kept.get(frame);
    if (state && !frame.isConnected) {
      state.network.destroy();
      kept.delete(frame);
    }
  };
}
