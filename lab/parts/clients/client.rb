require 'json'
require 'net/http'

uri = URI(ENV['URL'])
fields = { 'status' => 'PAID', 'name' => ENV['NAME'] }
request = Net::HTTP::Post.new(uri.request_uri)
case ENV['KIND']
when 'json'
  request['Content-Type'] = 'application/json'
  request.body = fields.to_json
when 'latin1'
  request['Content-Type'] = 'application/json; charset=ISO-8859-1'
  request.body = fields.to_json.encode('ISO-8859-1')
when 'form' then request.set_form_data(fields)
when 'multipart' then request.set_form(fields.to_a, 'multipart/form-data')
when 'nested'
  request.set_form_data('status' => 'PAID', 'payer[name]' => ENV['NAME'], 'payer[tags][]' => %w[a b])
when 'files'
  slip = ['slip', File.open(ENV['SLIP']), { filename: 'João "1".txt', content_type: 'text/plain' }]
  request.set_form([['note "a"', 'x'], slip], 'multipart/form-data')
when 'xml'
  request['Content-Type'] = 'application/xml'
  request.body = ENV['XML']
end
http = Net::HTTP.new(uri.host, uri.port)
http.use_ssl = true
http.ca_file = ENV['CA']
puts http.request(request).code
