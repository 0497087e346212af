// One item for each line, in the order of the call, as a Pay node gives it.
const items = $input.all().map(({ json }) => json);
const inOrder = items.sort((one, other) => one.position - other.position);
return inOrder.map(({ item }) => ({ json: item }));
