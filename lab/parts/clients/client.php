<?php
$fields = ['status' => 'PAID', 'name' => getenv('NAME')];
$kinds = [
	'json' => [json_encode($fields), ['Content-Type: application/json']],
	'latin1' => [
		iconv('UTF-8', 'ISO-8859-1', json_encode($fields, JSON_UNESCAPED_UNICODE)),
		['Content-Type: application/json; charset=ISO-8859-1'],
	],
	'form' => [http_build_query($fields), []],
	'multipart' => [$fields, []],
	'nested' => [
		http_build_query([
			'status' => 'PAID',
			'payer' => ['name' => getenv('NAME'), 'tags' => ['a', 'b']],
		]),
		[],
	],
	'files' => [
		['note "a"' => 'x', 'slip' => new CURLFile(getenv('SLIP'), 'text/plain', 'João "1".txt')],
		[],
	],
	// The second byte of this letter is an A, which is sent as it is.
	'shift_jis' => [
		http_build_query(['status' => 'PAID', 'name' => iconv('UTF-8', 'SHIFT_JIS', 'アカウント')]),
		['Content-Type: application/x-www-form-urlencoded; charset=Shift_JIS'],
	],
	'xml' => [getenv('XML'), ['Content-Type: application/xml']],
];
[$body, $headers] = $kinds[getenv('KIND')];
$curl = curl_init(getenv('URL'));
curl_setopt_array($curl, [
	CURLOPT_POSTFIELDS => $body,
	CURLOPT_HTTPHEADER => $headers,
	CURLOPT_RETURNTRANSFER => true,
	CURLOPT_CAINFO => getenv('CA'),
	CURLOPT_TIMEOUT => 60,
]);
curl_exec($curl);
echo curl_getinfo($curl, CURLINFO_HTTP_CODE), curl_error($curl), "\n";
